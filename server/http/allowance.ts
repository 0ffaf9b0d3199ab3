/** Says whether one more is allowed for a key in the running period. */
export type Allowance = (key: string) => boolean

/** So many keys are counted at once; then counting begins anew. */
const MOST_KEYS = 10_000

/**
 * Makes an {@link Allowance}, counted in this process alone: it spares disks, it does not guard doors.
 *
 * @param most how many are allowed in a period.
 * @param period its length, ms.
 */
export function createAllowance(most: number, period: number, now: () => number): Allowance {
  const counts = new Map<string, number>()
  let ends = now() + period
  return (key) => {
    if (now() >= ends || counts.size >= MOST_KEYS) {
      counts.clear()
      ends = now() + period
    }
    const count = (counts.get(key) ?? 0) + 1
    counts.set(key, count)
    return count <= most
  }
}
