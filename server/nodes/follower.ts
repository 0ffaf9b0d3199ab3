/** Brings what a node remembers in line with the store, one look after the other. */
export interface Follower {
  /**
   * Resolves when a look that began after this call has ended; many calls share one.
   *
   * @throws what the look failed with; the node is {@link behind} then.
   */
  follow(): Promise<void>
  /** The look that is under way. */
  readonly running: Promise<void> | undefined
  /** Whether the last look failed, so that another is owed. */
  readonly behind: boolean
}

/** Makes a {@link Follower} that looks by `sync`. */
export function createFollower(sync: () => Promise<void>): Follower {
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined
  let behind = false

  function look(): Promise<void> {
    running = sync()
      .then(
        () => {
          behind = false
        },
        (error: unknown) => {
          behind = true
          throw error
        },
      )
      .finally(() => {
        running = undefined
      })
    return running
  }

  return {
    follow() {
      if (running === undefined) return look()
      // What has just been changed may not be in what the present look has read.
      next ??= running
        .catch(() => {})
        .then(() => {
          next = undefined
          return look()
        })
      return next
    },
    get running() {
      return running
    },
    get behind() {
      return behind
    },
  }
}
