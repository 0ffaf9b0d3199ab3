/** Returns a quantile of the numbers: 0.5 is the median. */
export function quantile(numbers: readonly number[], share = 0.5): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  const at = (sorted.length - 1) * share
  const low = sorted[Math.floor(at)] ?? Number.NaN
  const high = sorted[Math.ceil(at)] ?? Number.NaN
  return low + (high - low) * (at - Math.floor(at))
}

/**
 * Returns the numbers 0 to `count` - 1 in random order, so that no load always follows the same
 * one.
 */
export function shuffled(count: number): number[] {
  return Array.from({ length: count }, (_, at) => ({ at, key: Math.random() }))
    .sort((a, b) => a.key - b.key)
    .map(({ at }) => at)
}
