import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import type { Store } from '../../storage/store.ts'
import type { KeyedLock } from '../address.ts'
import type { ListenerSet } from './listener-set.ts'
import type { Placement } from './placement/placement.ts'
import type { Reconciler } from './reconciler/reconciler.ts'
import { readChangedEndpoints, readEndpoint, readEndpoints } from './repository.ts'

/** Maximum time a sync waits for listeners to open, ms. */
const OPEN_TIMEOUT = 500

/** Pause before an endpoint that could not be read is read again, ms. */
const RETRY_DELAY = 500

/**
 * Number of endpoints that a restore begins to open in one turn of the event loop. If it opened
 * thousands at once, the garbage collector would copy their temporary objects several times.
 */
const OPENED_PER_TURN = 16

/** Reconciles the addresses that have changed in the store. */
export interface Synchronizer {
  /**
   * Opens the stored endpoints. Those that cannot be opened are `failed` or `elsewhere`, and
   * retried.
   */
  restore(): Promise<void>
  /**
   * Applies changes that other processes made in the store. When this resolves, all listeners
   * have the stored mapping and removed endpoints are closed; new endpoints may still be opening.
   *
   * @returns the revision up to which changes are applied.
   */
  sync(): Promise<number>
}

export interface SynchronizerDeps {
  readonly store: Store
  readonly listeners: ListenerSet
  readonly withLock: KeyedLock
  readonly reconcile: Reconciler['reconcile']
  /** `undefined` if the store has a single node. */
  readonly placement: Placement | undefined
}

/** Creates a {@link Synchronizer}. */
export function createSynchronizer(deps: SynchronizerDeps): Synchronizer {
  const { store, listeners, withLock, reconcile, placement } = deps
  // All changes up to this revision are applied.
  let syncedTo = 0
  /** Resolves when every endpoint of a restore has its listener. */
  let restoreBegun: Promise<unknown> = Promise.resolve()

  /** Stored endpoints that may not be listed yet, with their last {@link open}. */
  const opening = new Map<string, Promise<void>>()

  /** Opens a stored endpoint, after other changes of it. */
  function open(address: string): Promise<void> {
    const opened = openStored(address).finally(() => {
      if (opening.get(address) === opened) opening.delete(address)
    })
    opening.set(address, opened)
    return opened
  }

  async function openStored(address: string): Promise<void> {
    while (!listeners.stopping) {
      try {
        return await withLock(address, () => reconcile(address))
      } catch {
        // The endpoint could not be read.
        await pause(RETRY_DELAY, undefined, { ref: false })
      }
    }
  }

  /**
   * Returns the endpoints that may differ from the store, and the versions of the listeners
   * before it was read.
   */
  async function readDifferences() {
    const seen = new Map(listeners.listed().map(({ name, version }) => [name, version]))
    const read = await readChangedEndpoints(store, syncedTo)
    const names = new Set([...seen.keys(), ...opening.keys()])
    for (const { endpoint } of read.changed) names.add(endpoint)
    // The stored revision is lower than before when a backup was restored.
    const isRestored = read.revision < syncedTo
    // Equal counts mean that no endpoint was removed.
    if (!isRestored && names.size === read.total) return { ...read, seen, removed: [] }
    const all = await readChangedEndpoints(store, -1)
    const stored = new Set(all.changed.map(({ endpoint }) => endpoint))
    return { ...all, seen, removed: [...names].filter((name) => !stored.has(name)) }
  }

  /** Closes an endpoint that is no longer stored. */
  async function reconcileRemoval(address: string): Promise<void> {
    const seen = listeners.get(address)?.version
    const stored = await readEndpoint(store, address)
    if (stored === undefined) await reconcile(address, { desired: { databases: null }, seen })
  }

  /**
   * Opens a stored endpoint after `begin`, unless a change made by another node is applied already.
   * The lock is acquired at once, so that changes of the endpoint wait for the restore.
   */
  const restoreEndpoint = (
    desired: Awaited<ReturnType<typeof readEndpoints>>[number],
    begin: Promise<unknown>,
  ) =>
    withLock(desired.endpoint, async () => {
      await begin
      if (listeners.get(desired.endpoint) === undefined) {
        await reconcile(desired.endpoint, { desired })
      }
    })

  return {
    async restore() {
      const stored = await readEndpoints(store)
      let begin: Promise<unknown> = Promise.resolve()
      const opened = stored.map((desired, at) => {
        if (at > 0 && at % OPENED_PER_TURN === 0) begin = begin.then(() => nextTurn())
        return restoreEndpoint(desired, begin)
      })
      restoreBegun = begin.then(() => nextTurn())
      await Promise.all(opened)
    },
    async sync() {
      await restoreBegun
      const { changed, removed, revision, seen } = await readDifferences()
      // Without the locks: a change of this node may hold one while it waits for the store.
      const existing = changed.filter(({ endpoint }) => listeners.get(endpoint) !== undefined)
      await Promise.all(
        existing.map((desired) => {
          const { endpoint } = desired
          return reconcile(endpoint, { desired, seen: seen.get(endpoint) })
        }),
      )
      await Promise.all([placement?.openProposals(), ...removed.map(reconcileRemoval)])
      const missing = changed.filter(({ endpoint }) => listeners.get(endpoint) === undefined)
      // A host name that resolves slowly must not delay other changes.
      await Promise.race([
        Promise.all(missing.map(({ endpoint }) => open(endpoint))),
        pause(OPEN_TIMEOUT, undefined, { ref: false }),
      ])
      syncedTo = revision
      return revision
    },
  }
}
