import { setTimeout as pause } from 'node:timers/promises'
import { Failure } from '../failure.ts'
import { within } from '../storage/reach.ts'

/**
 * Maximum age of the state by which a node answers, ms: how long ago it last confirmed with the
 * store that it knows every change. {@link ROUND_TRIPS} to the store are added.
 */
export const STALE = 3_000

/** How many round trips to the store reading a revision and following it may take. */
export const ROUND_TRIPS = 5

/** The longest round trip that counts, ms. */
const ROUND_TRIP = 1_000

/** How many measurements the shortest of which counts as the round trip. */
const MEASUREMENTS = 10

/** Period of confirmations, ms: while the state is fresh, and while it is not. */
const PERIOD = { fresh: 1_000, stale: 250 } as const

/** Maximum time that a request waits for a confirmation, ms. */
const PATIENCE = 2_000

/** Knows how old the state is that a node remembers: databases, endpoints and their mappings. */
export interface Freshness {
  /** Whether the state was confirmed within the limit. Takes less than a microsecond. */
  isFresh(): boolean
  /**
   * Returns undefined where the state is fresh. Where it is not, because the process was suspended or
   * the store does not answer, a promise that resolves once it is confirmed.
   *
   * @throws Failure `unavailable`, at once where the last attempt failed.
   */
  require(): Promise<void> | undefined
  /** Confirms the state, then again every second. @throws Failure `unavailable` */
  start(): Promise<void>
  stop(): void
}

/** What {@link createFreshness} needs. */
export interface FreshnessDeps {
  /** Reads the revision of the store. */
  readonly readRevision: () => Promise<number>
  /** Follows what has changed in the store up to a revision; does nothing where that has been done. */
  readonly follow: (revision: number) => Promise<void>
  /** Called when the state becomes stale, with the reason, and when it is fresh again. */
  readonly changed: (stale: Stale | undefined) => void
  /** Two clocks, ms; by default one that never jumps, and that of the system. */
  readonly clock?: () => Moment
}

/** Why the state of a node is stale. */
export interface Stale {
  readonly reason: unknown
}

/** The same moment by two clocks, ms. */
interface Moment {
  readonly steady: number
  /** Goes on while the machine sleeps, when the steady clock may stop. */
  readonly wall: number
}

const now = (): Moment => ({ steady: performance.now(), wall: Date.now() })

/** Makes a {@link Freshness} of a state that is not confirmed yet. */
export function createFreshness(deps: FreshnessDeps): Freshness {
  const { clock = now } = deps
  const roundTrips: number[] = []
  const stopping = new AbortController()
  let confirmed: Moment = { steady: -Infinity, wall: -Infinity }
  let limit = STALE
  let failure: unknown
  let attempting: Promise<void> | undefined

  function isFresh(): boolean {
    const { steady, wall } = clock()
    return steady - confirmed.steady < limit && wall - confirmed.wall < limit
  }

  function measure(roundTrip: number): void {
    if (roundTrips.unshift(roundTrip) > MEASUREMENTS) roundTrips.pop()
    limit = STALE + ROUND_TRIPS * Math.min(ROUND_TRIP, ...roundTrips)
  }

  async function confirm(): Promise<void> {
    // Before the question is sent: the answer may arrive long after the store gave it.
    const asked = clock()
    const revision = await deps.readRevision()
    measure(clock().steady - asked.steady)
    await deps.follow(revision)
    if (asked.steady >= confirmed.steady) confirmed = asked
    failure = undefined
  }

  /** Tries to confirm the state; one that takes too long goes on beside the next. Never throws. */
  function attempt(): Promise<void> {
    attempting ??= within(PATIENCE, confirm(), new Error('no answer'))
      .catch((error: unknown) => error)
      .then((error) => {
        attempting = undefined
        if (error !== undefined) failure = error
      })
    return attempting
  }

  async function waitUntilFresh(): Promise<void> {
    // The first may have been under way when the process was suspended.
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
    let told = true
    for (;;) {
      const period = failure === undefined ? PERIOD.fresh : PERIOD.stale
      await pause(period, undefined, stopping).catch(() => {})
      if (stopping.signal.aborted) return
      await attempt()
      const fresh = isFresh()
      if (fresh !== told) deps.changed(fresh ? undefined : { reason: failure })
      told = fresh
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
