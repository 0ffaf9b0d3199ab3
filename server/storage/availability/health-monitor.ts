import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import type { Failure } from '../../failure.ts'
import { StoreUnavailable } from './unavailable.ts'

/** Since when the database has been unavailable, ms since 1970, and a human-readable reason. */
export interface Unavailability {
  readonly since: number
  /** For the log only: it may contain addresses and paths. */
  readonly reason: string
  /** What an operator has to do, as a sentence. Missing if the node recovers by itself. */
  readonly advice?: string
}

/** A pending query or connection request. */
export interface Waiting {
  /** Process id of the backend that runs the query, if known. */
  readonly worker?: number | undefined
  /** Fails the query, because the database is unavailable or has lost the query. */
  readonly abandon: (failure: Failure) => void
}

/** Result of a health check. */
export type Look =
  /**
   * The database responded. `idle`: those of the given processes that are not running a query.
   * `roundTrip`: duration of one query, ms.
   */
  | { readonly answers: true; readonly idle: ReadonlySet<number>; readonly roundTrip?: number }
  | { readonly answers: false; readonly reason: string }

export interface HealthMonitorDeps {
  /**
   * Checks the database over a separate connection, and the state of these processes. Never throws.
   */
  readonly look: (processes: readonly number[]) => Promise<Look>
  /** Called when the database becomes unavailable, and with undefined when it recovers. */
  readonly changed: (away: Unavailability | undefined) => void
}

/** Time beyond a round trip that a query may be pending before a health check, ms. */
const PATIENCE = 300

/** Interval at which pending queries are checked, ms. */
const TICK = 50

/** Pause between two health checks while the database is unavailable, ms. */
const AGAIN = 250

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
  readonly #waiting = new Set<Waiting & { readonly since: number }>()
  readonly #queued = new Set<Waiting['abandon']>()
  readonly #timer: NodeJS.Timeout
  #idle: ReadonlySet<Waiting> = new Set()
  #away: Unavailability | undefined
  #looking: Promise<void> | undefined
  #answered = 0
  #roundTrip = 0
  #returns = 0
  #stopped = false

  constructor(deps: HealthMonitorDeps) {
    this.#deps = deps
    this.#timer = setInterval(() => this.#tick(), TICK)
    this.#timer.unref()
  }

  /** Since when the database has been unavailable; undefined if it is available. */
  get away(): Unavailability | undefined {
    return this.#away
  }

  /** @throws Failure `unavailable` while the database is unavailable. */
  require(): void {
    if (this.#away !== undefined) throw unavailableError()
  }

  /** Registers a pending query. Returns a function that removes it. */
  wait(waiting: Waiting): () => void {
    const entry = { ...waiting, since: performance.now() }
    this.#waiting.add(entry)
    return () => {
      this.#waiting.delete(entry)
    }
  }

  /**
   * Registers a wait for a connection that other requests of this node use. Such a wait never
   * triggers a health check, but fails when the database becomes unavailable. Returns a function
   * that removes it.
   */
  queue(abandon: Waiting['abandon']): () => void {
    const entry = (failure: Failure) => abandon(failure)
    this.#queued.add(entry)
    return () => {
      this.#queued.delete(entry)
    }
  }

  /** Runs a health check immediately, after a connection broke or could not be opened. */
  suspect(): void {
    if (this.#stopped) return
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined
    })
  }

  /**
   * Runs a health check, and waits until the database is available. Returns false if it was
   * available.
   */
  async returned(): Promise<boolean> {
    const wasAway = this.#away !== undefined
    const before = this.#returns
    // A check in progress may have read its answer before the failure that led to this call.
    await this.#looking
    this.suspect()
    await this.#looking
    return wasAway || this.#returns !== before
  }

  /** Stops the health checks. Pending queries are no longer failed. */
  async stop(): Promise<void> {
    this.#stopped = true
    clearInterval(this.#timer)
    await this.#looking
  }

  #tick(): void {
    // A Set keeps insertion order, so the first entry has been pending for longest.
    const [first] = this.#waiting
    if (first === undefined) return
    const waited = performance.now() - Math.max(first.since, this.#answered)
    if (waited >= PATIENCE + this.#roundTrip) this.suspect()
  }

  async #look(): Promise<void> {
    do {
      const now = performance.now()
      const late = [...this.#waiting].filter(({ since }) => now - since >= PATIENCE)
      const processes = late.flatMap((each) => each.worker ?? [])
      const found = await this.#deps.look(processes)
      if (this.#stopped) return
      if (found.answers) {
        this.#answered = performance.now()
        this.#roundTrip = found.roundTrip ?? this.#roundTrip
        this.#isBack()
        this.#endLost(late, found.idle)
      } else {
        this.#isAway(found.reason)
        await pause(AGAIN)
      }
    } while (this.#away !== undefined && !this.#stopped)
  }

  #isAway(reason: string): void {
    const before = this.#away
    this.#away = { since: before?.since ?? Date.now(), reason }
    this.#idle = new Set()
    for (const { abandon } of [...this.#waiting]) abandon(unavailableError())
    for (const abandon of [...this.#queued]) abandon(unavailableError())
    if (before?.reason !== reason) this.#deps.changed(this.#away)
  }

  #isBack(): void {
    if (this.#away === undefined) return
    this.#away = undefined
    this.#returns++
    this.#deps.changed(undefined)
  }

  #endLost(late: readonly Waiting[], idle: ReadonlySet<number>): void {
    const lost = late.filter(({ worker }) => worker !== undefined && idle.has(worker))
    const before = this.#idle
    this.#idle = new Set(lost)
    for (const each of lost) if (before.has(each)) each.abandon(unavailableError())
  }
}

/** Returns the failure for queries while the database is unavailable. */
export const unavailableError = (cause?: unknown): Failure =>
  new StoreUnavailable(undefined, { cause })

/**
 * Resolves with the result of the work, or with `late` after `limit` ms. The process may have been
 * suspended, so pending I/O events are handled before the timeout takes effect.
 */
export async function within<T, L>(limit: number, work: Promise<T>, late: L): Promise<T | L> {
  const given = new AbortController()
  const over = (async () => {
    await pause(limit, undefined, { signal: given.signal })
    for (let turn = 0; turn < 3; turn++) await nextTurn()
    return late
  })()
  over.catch(() => {})
  try {
    return await Promise.race([work, over])
  } finally {
    given.abort()
  }
}
