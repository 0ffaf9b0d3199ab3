import { type RateLimit, tooManyRequests } from '../../rate-limit.ts'

/** Maximum number of checks per person and minute. The console sends at most three per second. */
export const CHECKS_PER_MINUTE = 120

/** Maximum number of concurrent checks per person on a node: resolving a name may be slow. */
export const CHECKS_PER_PERSON = 2

/** Maximum number of concurrent checks on a node. */
export const CHECKS = 8

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
  const running = new Map<string, number>()
  let total = 0
  return {
    async run(personId, check) {
      const count = running.get(personId) ?? 0
      if (count >= CHECKS_PER_PERSON || total >= CHECKS) {
        throw tooManyRequests(`${Math.max(count, total)} checks are running`, 1_000)
      }
      const wait = rate.consume(personId)
      if (wait > 0)
        throw tooManyRequests(`${CHECKS_PER_MINUTE} checks per minute are allowed`, wait)
      running.set(personId, count + 1)
      total++
      try {
        return await check()
      } finally {
        total--
        const remaining = (running.get(personId) ?? 1) - 1
        if (remaining === 0) running.delete(personId)
        else running.set(personId, remaining)
      }
    },
  }
}
