import { formatRate } from '../ui/text/format-number.ts'

/**
 * Returns a percentile of the durations in seconds, interpolated in its bucket; null without
 * requests. In the last bucket, which has no upper bound, it is the lower one.
 */
export function percentileOf(
  durations: readonly number[],
  bounds: readonly number[],
  percent: number,
): number | null {
  const total = durations.reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  let rest = (total * percent) / 100
  for (const [at, count] of durations.entries()) {
    const from = bounds[at - 1] ?? 0
    if (rest <= count) return from + ((bounds[at] ?? from) - from) * (rest / count)
    rest -= count
  }
  return bounds.at(-1) ?? null
}

/** Formats a duration: "4.2 ms", "1.5 s". */
export const formatSeconds = (seconds: number): string =>
  seconds < 1 ? `${formatRate(seconds * 1_000)} ms` : `${formatRate(seconds)} s`
