import { Failure } from '../failure.ts'
import { failureKey } from '../storage/failure-limit.ts'

/** So many sign-ins that were begun from one address in a period may be without their end. */
export const UNFINISHED_SIGN_INS = 300

/** The length of a period, s. */
const PERIOD = 60

/** So many addresses are counted at once; then counting begins anew. */
const MOST_KEYS = 10_000

/** What of a sign-in is counted: its start at whichever provider, and that the local one asks for its key. */
export type SignInStep = 'start' | 'key'

/**
 * Limits the sign-ins that are begun from an address and not finished: each has been written to the
 * store before it is known whose it is. Those that come to their end do not count, however many.
 */
export interface SignInLimit {
  /**
   * Counts what is begun.
   *
   * @param address from where; null: over a unix socket.
   * @throws Failure `too-many-requests`, with `Retry-After`, beyond {@link UNFINISHED_SIGN_INS}.
   */
  begin(step: SignInStep, address: string | null): void
  /** Takes one from the count: it has led to somebody who is known, or to the right key. */
  finish(step: SignInStep, address: string | null): void
}

/**
 * Makes a {@link SignInLimit}. Sessions and tokens never ask for it, so nobody who is in loses that.
 * Counted in this process alone: what it spares is the store, which a count there would not.
 *
 * @param now tells ms since 1970.
 */
export function createSignInLimit(now: () => number): SignInLimit {
  const counts = new Map<string, number>()
  let ends = 0
  return {
    begin(step, address) {
      if (now() >= ends || counts.size >= MOST_KEYS) {
        counts.clear()
        ends = now() + PERIOD * 1000
      }
      const key = failureKey(step, address)
      const count = counts.get(key) ?? 0
      if (count < UNFINISHED_SIGN_INS) {
        counts.set(key, count + 1)
        return
      }
      const seconds = Math.ceil((ends - now()) / 1000)
      throw new Failure(
        'too-many-requests',
        `Too many sign-ins were begun from this address. Try again in ${seconds} s.`,
        { headers: { 'Retry-After': String(seconds) } },
      )
    },
    finish(step, address) {
      const key = failureKey(step, address)
      counts.set(key, Math.max(0, (counts.get(key) ?? 0) - 1))
    },
  }
}
