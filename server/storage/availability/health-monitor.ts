import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import type { Failure } from '../../failure.ts'
import { StoreUnavailable } from './unavailable.ts'

/** Since when the database has been unavailable, ms since 1970, and a human-readable reason. */
export interface Outage {
  readonly since: number
  /** For the log only: it may contain addresses and paths. */
  readonly reason: string
  /** What an operator has to do, as a sentence. Missing if the node recovers by itself. */
  readonly advice?: string
}

/** A pending query or connection request. */
export interface PendingOperation {
  /** Process id of the backend that runs the query, if known. */
  readonly backendPid?: number | undefined
  /** Fails the query, because the database is unavailable or has lost the query. */
  readonly fail: (failure: Failure) => void
}

/** Result of a health check. */
export type ProbeResult =
  /**
   * The database responded. `idle`: those of the given processes that are not running a query.
   * `roundTrip`: duration of one query, ms.
   */
  | { readonly available: true; readonly idle: ReadonlySet<number>; readonly roundTrip?: number }
  | { readonly available: false; readonly reason: string }
  /** This process could not check, because it cannot open files. */
  | { readonly available: 'unknown' }

export interface HealthMonitorDeps {
  /**
   * Checks the database over a separate connection, and the state of these processes. Never throws.
   */
  readonly probe: (processes: readonly number[]) => Promise<ProbeResult>
  /** Called when the database becomes unavailable, and with undefined when it recovers. */
  readonly changed: (outage: Outage | undefined) => void
}

/** Time beyond a round trip that a query may be pending before a health check, ms. */
const PROBE_AFTER = 300

/** Interval at which pending queries are checked, ms. */
const TICK = 50

/** Pause between two health checks while the database is unavailable, ms. */
const RETRY_DELAY = 250

/**
 * Tracks whether the database is available, and fails pending queries when it is not. While it is
 * unavailable, {@link require} throws immediately, and health checks continue until it recovers
 * (docs/decisions/0013-postgresql-outages.md).
 *
 * A single connection may be lost while the server is available, for example in a firewall. Its
 * query fails after two consecutive health checks find the backend idle.
 */
export class HealthMonitor {
  readonly #deps: HealthMonitorDeps
  readonly #pending = new Set<PendingOperation & { readonly since: number }>()
  readonly #queued = new Set<PendingOperation['fail']>()
  readonly #timer: NodeJS.Timeout
  #idle: ReadonlySet<PendingOperation> = new Set()
  #outage: Outage | undefined
  #probing: Promise<void> | undefined
  #lastResponse = 0
  #roundTrip = 0
  #recoveries = 0
  #stopped = false

  constructor(deps: HealthMonitorDeps) {
    this.#deps = deps
    this.#timer = setInterval(() => this.#tick(), TICK)
    this.#timer.unref()
  }

  /** Since when the database has been unavailable; undefined if it is available. */
  get outage(): Outage | undefined {
    return this.#outage
  }

  /** @throws Failure `unavailable` while the database is unavailable. */
  require(): void {
    if (this.#outage !== undefined) throw unavailableError()
  }

  /** Registers a pending query. Returns a function that removes it. */
  track(waiting: PendingOperation): () => void {
    const entry = { ...waiting, since: performance.now() }
    this.#pending.add(entry)
    return () => {
      this.#pending.delete(entry)
    }
  }

  /**
   * Registers a wait for a connection that other requests of this node use. Such a wait never
   * triggers a health check, but fails when the database becomes unavailable. Returns a function
   * that removes it.
   */
  trackQueued(fail: PendingOperation['fail']): () => void {
    const entry = (failure: Failure) => fail(failure)
    this.#queued.add(entry)
    return () => {
      this.#queued.delete(entry)
    }
  }

  /** Runs a health check immediately, after a connection broke or could not be opened. */
  checkNow(): void {
    if (this.#stopped) return
    this.#probing ??= this.#probe().finally(() => {
      this.#probing = undefined
    })
  }

  /**
   * Runs a health check, and waits until the database is available. Returns false if it was
   * available.
   */
  async recovered(): Promise<boolean> {
    const wasUnavailable = this.#outage !== undefined
    const before = this.#recoveries
    // A check in progress may have read its answer before the failure that led to this call.
    await this.#probing
    this.checkNow()
    await this.#probing
    return wasUnavailable || this.#recoveries !== before
  }

  /** Stops the health checks. Pending queries are no longer failed. */
  async stop(): Promise<void> {
    this.#stopped = true
    clearInterval(this.#timer)
    await this.#probing
  }

  #tick(): void {
    // A Set keeps insertion order, so the first entry has been pending for longest.
    const [first] = this.#pending
    if (first === undefined) return
    const waited = performance.now() - Math.max(first.since, this.#lastResponse)
    if (waited >= PROBE_AFTER + this.#roundTrip) this.checkNow()
  }

  async #probe(): Promise<void> {
    do {
      const now = performance.now()
      const late = [...this.#pending].filter(({ since }) => now - since >= PROBE_AFTER)
      const processes = late.flatMap((each) => each.backendPid ?? [])
      const found = await this.#deps.probe(processes)
      if (this.#stopped) return
      if (found.available === 'unknown') {
        await pause(RETRY_DELAY)
      } else if (found.available) {
        this.#lastResponse = performance.now()
        this.#roundTrip = found.roundTrip ?? this.#roundTrip
        this.#setAvailable()
        this.#failLost(late, found.idle)
      } else {
        this.#setUnavailable(found.reason)
        await pause(RETRY_DELAY)
      }
    } while (this.#outage !== undefined && !this.#stopped)
  }

  #setUnavailable(reason: string): void {
    const before = this.#outage
    this.#outage = { since: before?.since ?? Date.now(), reason }
    this.#idle = new Set()
    for (const { fail } of [...this.#pending]) fail(unavailableError())
    for (const fail of [...this.#queued]) fail(unavailableError())
    if (before?.reason !== reason) this.#deps.changed(this.#outage)
  }

  #setAvailable(): void {
    if (this.#outage === undefined) return
    this.#outage = undefined
    this.#recoveries++
    this.#deps.changed(undefined)
  }

  #failLost(late: readonly PendingOperation[], idle: ReadonlySet<number>): void {
    const lost = late.filter(({ backendPid }) => backendPid !== undefined && idle.has(backendPid))
    const before = this.#idle
    this.#idle = new Set(lost)
    for (const each of lost) if (before.has(each)) each.fail(unavailableError())
  }
}

/** Returns the failure for queries while the database is unavailable. */
export const unavailableError = (cause?: unknown): Failure =>
  new StoreUnavailable(undefined, { cause })

/**
 * Resolves with the result of the work, or with `late` after `limit` ms. The process may have been
 * suspended, so pending I/O events are handled before the timeout takes effect.
 */
export async function withTimeout<T, L>(limit: number, work: Promise<T>, late: L): Promise<T | L> {
  const finished = new AbortController()
  const timeout = (async () => {
    await pause(limit, undefined, { signal: finished.signal })
    for (let turn = 0; turn < 3; turn++) await nextTurn()
    return late
  })()
  timeout.catch(() => {})
  try {
    return await Promise.race([work, timeout])
  } finally {
    finished.abort()
  }
}
