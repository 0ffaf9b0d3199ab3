/** Limits of the batches that are in flight at the same time. */
export interface Pace {
  /** Maximum number of batches in flight. */
  readonly inFlight: number
  /**
   * Minimum delay before another batch starts while one is in flight, ms. If PostgreSQL responds
   * sooner, one batch at a time is in flight, and batches become larger.
   */
  readonly spacing: number
  /** Records the duration of a batch, ms. */
  record(duration: number): void
}

/** With PostgreSQL nearby: more batches in flight would be smaller and cost more. */
const NEARBY = { inFlight: 4, spacing: 2 } as const

/** Round trip from which PostgreSQL counts as remote, ms. */
const REMOTE = 4

/** With a remote PostgreSQL: the batches begin at equal intervals of a round trip. */
const REMOTE_IN_FLIGHT = 8
const MIN_SPACING = 1

/** Number of durations from which the round trip is estimated. */
const RECENT = 32

/**
 * Adapts to the round trip to PostgreSQL. Its estimate is the shortest of the recent durations,
 * because an average would also contain the time that batches wait for a busy CPU.
 */
export class RoundTripPace implements Pace {
  readonly #recent: number[] = []
  #at = 0
  #roundTrip = 0

  get inFlight(): number {
    return this.#roundTrip < REMOTE ? NEARBY.inFlight : REMOTE_IN_FLIGHT
  }

  get spacing(): number {
    if (this.#roundTrip < REMOTE) return NEARBY.spacing
    return Math.max(MIN_SPACING, this.#roundTrip / REMOTE_IN_FLIGHT)
  }

  record(duration: number): void {
    this.#recent[this.#at] = duration
    this.#at = (this.#at + 1) % RECENT
    this.#roundTrip = Math.min(...this.#recent)
  }
}
