/** Runs a sync of in-memory state with the store, one at a time. */
export interface CoalescedSync {
  /**
   * Resolves when a sync that began after this call has ended. Concurrent calls share a sync.
   *
   * @throws the error of the sync; {@link behind} is then true.
   */
  sync(): Promise<void>
  /** The sync in progress. */
  readonly running: Promise<void> | undefined
  /** Whether the last sync failed and another is due. */
  readonly behind: boolean
}

/** Creates a {@link CoalescedSync} that runs `sync`. */
export function createCoalescedSync(sync: () => Promise<void>): CoalescedSync {
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined
  let behind = false

  function run(): Promise<void> {
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
    sync() {
      if (running === undefined) return run()
      // The sync in progress may have read the store before the latest change.
      next ??= running
        .catch(() => {})
        .then(() => {
          next = undefined
          return run()
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
