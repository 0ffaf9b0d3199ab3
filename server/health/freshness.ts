import { setTimeout as pause } from 'node:timers/promises'
import { Failure } from '../failure.ts'
import { withTimeout } from '../storage/availability/health-monitor.ts'

/**
 * Maximum age of the state that a node serves, ms: the time since it last confirmed with the store
 * that it has every change. {@link ROUND_TRIPS} round trips to the store are added.
 */
export const MAX_AGE = 3_000

/** Number of round trips to the store that reading a revision and syncing to it may take. */
export const ROUND_TRIPS = 5

/** Maximum round trip that counts, ms. */
const ROUND_TRIP = 1_000

/** Number of recent measurements; the shortest counts as the round trip. */
const MEASUREMENTS = 10

/** Period of confirmations, ms: while the state is fresh, and while it is stale. */
const PERIOD = { fresh: 1_000, stale: 250 } as const

/** Maximum time that a request waits for a confirmation, ms. */
const CONFIRM_TIMEOUT = 2_000

/** Tracks the age of the state that a node keeps in memory: databases, endpoints and mappings. */
export interface Freshness {
  /** Returns whether the state was confirmed within the limit. Takes less than a microsecond. */
  isFresh(): boolean
  /**
   * Returns undefined if the state is fresh. If it is stale, because the process was suspended or
   * the store does not respond, returns a promise that resolves once it is confirmed.
   *
   * @throws Failure `unavailable`, immediately if the last attempt failed.
   */
  require(): Promise<void> | undefined
  /**
   * Confirms the state, and again every second.
   *
   * @throws Failure `unavailable`
   */
  start(): Promise<void>
  stop(): void
}

export interface FreshnessDeps {
  /** Reads the revision of the store. */
  readonly readRevision: () => Promise<number>
  /** Syncs up to a revision; does nothing if the node has it already. */
  readonly syncTo: (revision: number) => Promise<void>
  /**
   * Called with the reason when the state becomes stale, and with undefined when it is fresh again.
   */
  readonly changed: (stale: Stale | undefined) => void
  /** Reads the clocks; by default a monotonic one and the system's. */
  readonly clock?: () => Moment
}

export interface Stale {
  readonly reason: unknown
}

/** The same moment on two clocks, ms. */
interface Moment {
  readonly steady: number
  /** Also advances while the machine sleeps, when the monotonic clock may stop. */
  readonly wall: number
}

const now = (): Moment => ({ steady: performance.now(), wall: Date.now() })

/** Returns a {@link Freshness} that is not confirmed yet. */
export function createFreshness(deps: FreshnessDeps): Freshness {
  const { clock = now } = deps
  const roundTrips: number[] = []
  const stopping = new AbortController()
  let confirmed: Moment = { steady: -Infinity, wall: -Infinity }
  let limit = MAX_AGE
  let failure: unknown
  let attempting: Promise<void> | undefined

  function isFresh(): boolean {
    const { steady, wall } = clock()
    return steady - confirmed.steady < limit && wall - confirmed.wall < limit
  }

  function measure(roundTrip: number): void {
    if (roundTrips.unshift(roundTrip) > MEASUREMENTS) roundTrips.pop()
    limit = MAX_AGE + ROUND_TRIPS * Math.min(ROUND_TRIP, ...roundTrips)
  }

  async function confirm(): Promise<void> {
    // Read the clock before the query: its result may arrive long after the store produced it.
    const begun = clock()
    const revision = await deps.readRevision()
    measure(clock().steady - begun.steady)
    await deps.syncTo(revision)
    if (begun.steady >= confirmed.steady) confirmed = begun
    failure = undefined
  }

  /**
   * Tries to confirm the state. An attempt that times out continues while the next one runs. Never
   * throws.
   */
  function attempt(): Promise<void> {
    attempting ??= withTimeout(CONFIRM_TIMEOUT, confirm(), new Error('no answer'))
      .catch((error: unknown) => error)
      .then((error) => {
        attempting = undefined
        if (error !== undefined) failure = error
      })
    return attempting
  }

  async function waitUntilFresh(): Promise<void> {
    // The first attempt may have been in progress when the process was suspended.
    for (let attempts = 0; attempts < 2 && failure === undefined; attempts++) {
      await attempt()
      if (isFresh()) return
    }
    if (failure instanceof Failure && failure.code === 'unavailable') {
      throw new Failure('unavailable', failure.message)
    }
    throw new Failure('unavailable', NOT_CONFIRMED)
  }

  async function keepConfirming(): Promise<void> {
    let reportedFresh = true
    for (;;) {
      const period = failure === undefined ? PERIOD.fresh : PERIOD.stale
      await pause(period, undefined, stopping).catch(() => {})
      if (stopping.signal.aborted) return
      await attempt()
      const fresh = isFresh()
      if (fresh !== reportedFresh) deps.changed(fresh ? undefined : { reason: failure })
      reportedFresh = fresh
    }
  }

  return {
    isFresh,
    require: () => (isFresh() ? undefined : waitUntilFresh()),
    async start() {
      await confirm()
      void keepConfirming()
    },
    stop: () => stopping.abort(),
  }
}

const NOT_CONFIRMED = 'This node cannot confirm that its state is current. Try again.'
