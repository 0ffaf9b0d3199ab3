import type { LiveEvent } from '../../../contract/event.ts'
import type { StoredPolicy } from '../../../policy/stored-policies.ts'
import type { Store } from '../../../storage/store.ts'
import { type KeyedLock, readAddress } from '../../address.ts'
import type { Listener } from '../../listeners/listener.ts'
import { createMapping } from '../../mapping.ts'
import type { ListenerSet } from '../listener-set.ts'
import { readEndpoint } from '../repository.ts'

/**
 * The desired state of one address: the databases and the policy of its endpoint, or null for no
 * endpoint.
 */
export type DesiredState =
  | {
      readonly databases: readonly string[]
      readonly revision: number
      readonly policy: StoredPolicy | undefined
    }
  | { readonly databases: null; readonly revision?: number | undefined }

/** State that the caller of {@link Reconciler.reconcile} has already read, written or opened. */
export interface ReconcileState {
  /** The stored state; by default it is read. */
  readonly desired?: DesiredState
  /** The version of the listener before `desired` was read or written; `undefined` if unknown. */
  readonly seen?: number | undefined
  /** An open listener for a new endpoint. It is closed if it is not used. */
  readonly opened?: Listener
  /** Opens a listener that is `failed` or `elsewhere` again. The error is thrown. */
  readonly retry?: boolean
}

/** Makes the listeners of this node (actual state) match the stored endpoints (desired state). */
export interface Reconciler {
  /**
   * Opens, remaps or closes the listener of one address, as stored. A listener that cannot be
   * opened is `failed` or `elsewhere`, and retried. With `desired`, an existing listener is remapped
   * or closed before this returns its promise.
   *
   * The caller holds the lock of the address, unless `desired` is a change of an existing listener.
   */
  reconcile(address: string, known?: ReconcileState): Promise<void>
  /**
   * Reconciles a listener that is `failed` or `elsewhere`, after an attempt in progress. No effect
   * if it is open by then, or removed.
   *
   * @throws Failure if it cannot be opened.
   */
  retry(listener: Listener): Promise<void>
  /** Cancels the scheduled retries. */
  stop(): void
}

export interface ReconcilerDeps {
  readonly store: Store
  readonly listeners: ListenerSet
  readonly withLock: KeyedLock
  readonly publish: (event: LiveEvent) => void
}

/** Creates a {@link Reconciler}. It schedules retries of all listeners in the set. */
export function createReconciler(deps: ReconcilerDeps): Reconciler {
  const { store, listeners, withLock, publish } = deps
  const retries = createRetrySchedule((listener) => void retry(listener).catch(() => {}))
  listeners.onStateChange(retries.update)

  async function reconcile(address: string, known: ReconcileState = {}): Promise<void> {
    if (known.desired === undefined) {
      const seen = listeners.get(address)?.version
      const stored = await readEndpoint(store, address)
      return reconcile(address, { ...known, seen, desired: stored ?? { databases: null } })
    }
    const { desired, seen, opened, retry = false } = known
    const listener = listeners.get(address)
    if (listener === undefined) {
      if (desired.databases === null) return
      // It was closed while the store was read or written.
      if (seen !== undefined) return reconcile(address)
      return open(address, desired, opened)
    }
    opened?.close()
    if (isOutdated(desired, listener, seen)) return
    if (desired.databases === null) listeners.remove(listener)
    else if (versionOf(desired) !== listener.version) await update(listener, desired)
    else if (retry) await reopen(listener)
  }

  /** Applies the mapping and the policy; opens or closes the socket if the policy demands it. */
  async function update(listener: Listener, desired: PresentState): Promise<void> {
    const mapping = createMapping(desired.databases, Infinity)
    listeners.update(listener, mapping, desired.revision, desired.policy)
    if (listener.policy?.enabled === false) listeners.turnOff(listener)
    else if (listener.state === 'closed' || isWaitingForCertificate(listener)) {
      await listener.open().catch(() => {})
    }
  }

  async function open(
    endpoint: string,
    { databases, revision, policy }: PresentState,
    opened: Listener | undefined,
  ): Promise<void> {
    if (opened !== undefined) {
      opened.revision = revision
      opened.setPolicy(policy)
      listeners.add(opened)
    } else {
      if (listeners.stopping) return
      const mapping = createMapping(databases, Infinity)
      const listener = listeners.create(readAddress(endpoint), mapping, revision, policy)
      listeners.add(listener)
      // The listener keeps the error.
      if (listener.state !== 'closed') await listener.open().catch(() => {})
    }
    publish({ type: 'endpoint', endpoint, revision })
  }

  async function reopen(listener: Listener): Promise<void> {
    const { state } = listener
    if (state !== 'failed' && state !== 'elsewhere') return
    try {
      await listener.open()
    } catch (error) {
      // A listener that stays `elsewhere` has not changed its state.
      if (state === 'elsewhere' && listener.state === state) retries.update(listener)
      throw error
    }
  }

  function retry(listener: Listener): Promise<void> {
    const { name } = listener
    return withLock(name, async () => {
      if (listeners.get(name) !== listener || listeners.stopping) return
      const { revision, mapping, storedPolicy: policy, version } = listener
      const desired = { databases: mapping.names, revision, policy }
      await reconcile(name, { desired, seen: version, retry: true })
    })
  }

  return { reconcile, retry, stop: retries.stop }
}

/** Whether an `ssl` listener is not open, possibly because its policy named no usable certificate. */
const isWaitingForCertificate = ({ address, state }: Listener) =>
  address.scheme === 'ssl' && state === 'failed'

/** Whether a newer state was applied to the listener after the store was read or written. */
const isOutdated = (desired: DesiredState, listener: Listener, seen: number | undefined): boolean =>
  listener.version !== seen && versionOf(desired) <= listener.version

type PresentState = Extract<DesiredState, { readonly databases: readonly string[] }>

/** Returns the revision of the last change of an endpoint or its policy. */
const versionOf = (desired: DesiredState): number =>
  desired.databases === null
    ? (desired.revision ?? -1)
    : Math.max(desired.revision, desired.policy?.revision ?? 0)

/** Delays between attempts to open a failed endpoint, ms; doubled each time, up to `longest`. */
const BACKOFF = { first: 1_000, longest: 60_000 }

/**
 * Delay between attempts to open an endpoint that is elsewhere, ms: its address may move to this
 * machine.
 */
const ELSEWHERE_RETRY_DELAY = 5_000

/** The next attempts to open the listeners that are not open. */
export interface RetrySchedule {
  /**
   * Schedules the next attempt for a listener that is `failed` or `elsewhere`; cancels it for one
   * that is listening, draining or closed. Called after each change of state and each failed attempt.
   */
  update(listener: Listener): void
  /** Cancels all attempts and schedules no more. */
  stop(): void
}

/** Creates a {@link RetrySchedule} that calls `retry` when an attempt is due. */
export function createRetrySchedule(retry: (listener: Listener) => void): RetrySchedule {
  const scheduled = new Map<Listener, { timer: NodeJS.Timeout; delay: number }>()
  let stopped = false

  function schedule(listener: Listener): void {
    const last = scheduled.get(listener)
    clearTimeout(last?.timer)
    const elsewhere = listener.state === 'elsewhere'
    const backoff = last === undefined ? BACKOFF.first : Math.min(last.delay * 2, BACKOFF.longest)
    // Add ±10 % jitter so that listeners that failed together are not retried together.
    const wait = (elsewhere ? ELSEWHERE_RETRY_DELAY : backoff) * (0.9 + Math.random() * 0.2)
    const timer = setTimeout(() => retry(listener), wait).unref()
    scheduled.set(listener, { timer, delay: elsewhere ? BACKOFF.first : backoff })
    if (!elsewhere) listener.nextTry = Date.now() + wait
  }

  function cancel(listener: Listener): void {
    clearTimeout(scheduled.get(listener)?.timer)
    scheduled.delete(listener)
  }

  return {
    update(listener) {
      const { state } = listener
      if (state === 'listening' || state === 'draining' || state === 'closed') cancel(listener)
      else if (state !== 'opening' && !stopped) schedule(listener)
    },
    stop() {
      stopped = true
      for (const { timer } of scheduled.values()) clearTimeout(timer)
    },
  }
}
