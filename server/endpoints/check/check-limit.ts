import { PersonLimit } from '../../concurrency/person-limit.ts'
import { type RateLimit, tooManyRequests } from '../../rate-limit.ts'

/** Maximum number of checks per person and minute. The console sends at most three per second. */
export const CHECKS_PER_MINUTE = 120

/** Maximum number of concurrent checks per person on a node: resolving a name may be slow. */
export const CHECKS_PER_PERSON = 2

/** Maximum number of concurrent checks on a node. */
const CHECKS = 8

/** Limits the rate and the concurrency of address checks. */
export interface CheckLimit {
  /**
   * Runs a check for a person.
   *
   * @throws Failure `too-many-requests`
   */
  run<T>(personId: string, check: () => Promise<T>): Promise<T>
}

/**
 * Creates a {@link CheckLimit}.
 *
 * @param rate allows {@link CHECKS_PER_MINUTE} per person.
 */
export function createCheckLimit(rate: Pick<RateLimit, 'consume'>): CheckLimit {
  const running = new PersonLimit(CHECKS, CHECKS_PER_PERSON)
  return {
    async run(personId, check) {
      const reached = running.enter(personId)
      if (reached !== undefined) {
        const checks =
          reached === 'person' ? `You have ${CHECKS_PER_PERSON}` : `This node has ${CHECKS}`
        throw tooManyRequests(`${checks} checks in progress, the maximum`, 1_000)
      }
      try {
        const wait = rate.consume(personId)
        if (wait > 0)
          throw tooManyRequests(`${CHECKS_PER_MINUTE} checks per minute are allowed`, wait)
        return await check()
      } finally {
        running.leave(personId)
      }
    },
  }
}
