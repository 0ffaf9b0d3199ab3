/** Returns whether the key may act once more in the current period. */
export type RateLimit = (key: string) => boolean

/** Maximum number of keys counted at a time; all counts are reset when it is reached. */
const MAX_KEYS = 10_000

/**
 * Returns a rate limit that counts in this process only. It limits disk use and is not a security
 * boundary.
 *
 * @param most maximum number of allowed actions in a period.
 * @param period length of a period, ms.
 */
export function createRateLimit(most: number, period: number, now: () => number): RateLimit {
  const counts = new Map<string, number>()
  let ends = now() + period
  return (key) => {
    if (now() >= ends || counts.size >= MAX_KEYS) {
      counts.clear()
      ends = now() + period
    }
    const count = (counts.get(key) ?? 0) + 1
    counts.set(key, count)
    return count <= most
  }
}
