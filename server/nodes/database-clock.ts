/** Maximum round trip after which a reply sets the clock, ms. */
const ROUND_TRIP = 1_500

/** The clock of PostgreSQL, which is the same for all nodes. */
export interface DatabaseClock {
  /** Returns the time, ms since 1970. */
  now(): number
  /** Sets the clock from a reply with the time. Returns whether the reply has one. */
  set(reply: Promise<number | undefined>): Promise<boolean>
}

/**
 * Creates a {@link DatabaseClock} that shows the time of this machine until it is set. It runs by the
 * monotonic clock, which changes of the system's time do not affect.
 */
export function createDatabaseClock(): DatabaseClock {
  let offset = performance.timeOrigin
  return {
    now: () => Math.floor(performance.now() + offset),
    async set(reply) {
      const sent = performance.now()
      const time = await reply
      // A slow reply says little about the current time.
      const received = performance.now()
      if (time !== undefined && received - sent < ROUND_TRIP) offset = time - received
      return time !== undefined
    },
  }
}
