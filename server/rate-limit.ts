import { Failure } from './failure.ts'

export interface RateLimitOptions {
  /** Maximum number of actions of a key in a period. */
  readonly max: number
  /** Length of a period, ms. The period of a key begins with its first action. */
  readonly period: number
  /** Maximum number of keys in memory. Beyond it, the key with the oldest period is evicted. */
  readonly maxKeys?: number
  /** Called with each key that is evicted. */
  readonly onEvict?: (key: string) => void
  /** Returns the time, ms since 1970. */
  readonly now?: () => number
}

/** Actions of a key in its current period. */
export interface RateCount {
  readonly count: number
  /** End of the period, ms since 1970. */
  readonly ends: number
}

/**
 * A rate limit that counts actions by key in the memory of this process. It is synchronous, because
 * requests that are answered without a promise use it
 * (docs/decisions/0024-synchronous-dispatch.md).
 */
export interface RateLimit {
  /**
   * Counts an action of a key. Returns 0 if it is allowed, otherwise the time until the period ends,
   * ms. Rejected actions are not counted.
   */
  consume(key: string): number
  /** Removes an action from the count of a key. */
  refund(key: string): void
  /** Returns the count of a key, or `undefined` if its period has ended. */
  get(key: string): RateCount | undefined
  /** Replaces the count of a key. */
  set(key: string, count: RateCount): void
}

/** Maximum number of keys of a limit, unless it is given. */
export const RATE_LIMIT_KEYS = 10_000

export function createRateLimit({
  max,
  period,
  maxKeys = RATE_LIMIT_KEYS,
  onEvict = () => {},
  now = Date.now,
}: RateLimitOptions): RateLimit {
  // The keys are in the order in which their periods began, so the first ones end first.
  const counts = new Map<string, { count: number; ends: number }>()

  function evict(key: string): void {
    counts.delete(key)
    onEvict(key)
  }

  /** Makes room for a key: evicts keys whose period has ended, or else the oldest one. */
  function insert(key: string, entry: { count: number; ends: number }, at: number): void {
    if (counts.has(key)) evict(key)
    for (const [first, { ends }] of counts) {
      if (ends > at && counts.size < maxKeys) break
      evict(first)
    }
    counts.set(key, entry)
  }

  const current = (key: string, at: number) => {
    const entry = counts.get(key)
    return entry === undefined || hasEnded(entry.ends, period, at) ? undefined : entry
  }

  return {
    consume(key) {
      const at = now()
      const entry = current(key, at)
      if (entry === undefined) {
        insert(key, { count: 1, ends: at + period }, at)
        return 0
      }
      if (entry.count >= max) return entry.ends - at
      entry.count++
      return 0
    },
    refund(key) {
      const entry = current(key, now())
      if (entry !== undefined && entry.count > 0) entry.count--
    },
    get: (key) => current(key, now()),
    set(key, { count, ends }) {
      const at = now()
      const entry = current(key, at)
      if (entry === undefined) insert(key, { count, ends }, at)
      else Object.assign(entry, { count, ends })
    },
  }
}

/**
 * Returns whether a period has ended. An end more than two periods ahead was stored before the
 * clock was set back. An earlier one may come from a node whose clock differs.
 */
const hasEnded = (ends: number, period: number, at: number): boolean =>
  ends <= at || ends > at + 2 * period

/**
 * Returns the failure of a request beyond a limit, with `Retry-After`.
 *
 * @param wait time until another one is allowed, ms.
 */
export function tooManyRequests(reason: string, wait: number): Failure {
  const seconds = Math.ceil(wait / 1000)
  return new Failure('too-many-requests', `${reason}. Try again in ${seconds} s.`, {
    headers: { 'Retry-After': String(seconds) },
  })
}
