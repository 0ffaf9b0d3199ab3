import type { Store } from '../storage/store.ts'

/** Interval at which the store is checked for changes of other processes, besides requests, ms. */
const CHECK_INTERVAL = 500

/** Applies the changes that other processes make in the store. */
export interface ChangeSync extends AsyncDisposable {
  /** Applies changes before a request is served. Returns undefined if there are none. */
  catchUp(): Promise<void> | undefined
  /** Applies changes up to a revision; does nothing if they are applied already. */
  syncTo(revision: number): Promise<void>
  /**
   * Applies changes in the background from now on: after each notification of the store, and after
   * periodic checks. A sync opens endpoints, so the node must be registered.
   */
  start(): void
}

export interface ChangeSyncDeps {
  readonly store: Pick<Store, 'changedOutside' | 'onNotification' | 'readRevision'>
  /** Reloads the state that is kept in memory. Returns the revision up to which it is current. */
  readonly sync: () => Promise<number>
  /** Called when another process has changed people, sessions or tokens. */
  readonly onAccess: () => void
  readonly onError: (error: unknown) => void
}

/** Creates a {@link ChangeSync} that syncs only when requested until it is started. */
export function createChangeSync(deps: ChangeSyncDeps): ChangeSync {
  const { store, onError } = deps
  let synced: number | undefined
  const state = createCoalescedSync(async () => {
    synced = await deps.sync()
  })
  const hasChanged = () => state.behind || store.changedOutside()
  const syncInBackground = () => void state.sync().catch(onError)
  const background = new DisposableStack()
  let checked = false

  return {
    catchUp() {
      // PostgreSQL notifies nodes of changes, so requests do not check the store; see
      // `health/freshness.ts`.
      if (store.readRevision !== undefined) return undefined
      if (checked) return state.running
      // Requests read in one turn of the event loop share a single check of the store.
      const changed = hasChanged()
      checked = true
      setImmediate(() => {
        checked = false
      })
      return changed ? state.sync() : state.running
    },
    async syncTo(revision) {
      // A notification of the same change may have started a sync already.
      await state.running?.catch(() => {})
      if (state.behind || synced !== revision) await state.sync()
    },
    start() {
      background.defer(
        store.onNotification((topic) => {
          if (topic === 'access') deps.onAccess()
          else if (topic !== 'nodes') syncInBackground()
        }),
      )
      const check = () => {
        try {
          if (hasChanged()) syncInBackground()
        } catch (error) {
          onError(error)
        }
      }
      background.adopt(setInterval(check, CHECK_INTERVAL), clearInterval)
    },
    async [Symbol.asyncDispose]() {
      background.dispose()
    },
  }
}

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
