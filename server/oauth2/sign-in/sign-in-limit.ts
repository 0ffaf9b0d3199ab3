import { createRateLimit, tooManyRequests } from '../../rate-limit.ts'
import { failureKey } from '../../storage/changes/failure-limit.ts'

/** Maximum number of unfinished sign-ins from one address per period. */
export const UNFINISHED_SIGN_INS = 300

/** Length of a period, ms. */
const PERIOD = 60_000

/**
 * Counted steps: `start` is the start of a sign-in at any provider, `key` a request for the key
 * page of the local provider, `invitation` a request for the page of an invitation.
 */
export type SignInStep = 'start' | 'key' | 'invitation'

/**
 * Limits the sign-ins that an address starts without finishing them. Each one writes to the
 * database before the person is known. Finished sign-ins are not limited.
 */
export interface SignInLimit {
  /**
   * Counts a step.
   *
   * @param address address of the client; null for a Unix socket.
   * @throws Failure `too-many-requests`, with `Retry-After`, beyond {@link UNFINISHED_SIGN_INS}.
   */
  begin(step: SignInStep, address: string | null): void
  /** Removes a step from the count after it has led to a known person or to the right key. */
  finish(step: SignInStep, address: string | null): void
}

/**
 * Creates a {@link SignInLimit}. Requests with a session or token are not limited. The counts are
 * kept in memory, because a count in the database would add the writes that the limit avoids.
 *
 * @param now returns the time, ms since 1970.
 */
export function createSignInLimit(now: () => number): SignInLimit {
  const limit = createRateLimit({ max: UNFINISHED_SIGN_INS, period: PERIOD, now })
  return {
    begin(step, address) {
      const wait = limit.consume(failureKey(step, address))
      if (wait > 0) {
        throw tooManyRequests('Too many sign-ins were started from this address', wait)
      }
    },
    finish: (step, address) => limit.refund(failureKey(step, address)),
  }
}
