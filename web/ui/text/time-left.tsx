import { exactTime } from './relative-time.tsx'
import { useClock } from './use-clock.ts'

const steps = [
  ['s', 60],
  ['min', 60],
  ['h', 48],
  ['d', Number.POSITIVE_INFINITY],
] as const
const size = { s: 1, min: 60, h: 3_600, d: 86_400 } as const

/** Formats the remaining time in one unit, rounded: "in 90 d". Returns '' if none is left. */
export function formatTimeLeft(milliseconds: number): string {
  const seconds = milliseconds / 1_000
  if (seconds <= 0) return ''
  for (const [unit, limit] of steps) {
    const count = Math.round(seconds / size[unit])
    if (count < limit) return `in ${Math.max(1, count)} ${unit}`
  }
  return ''
}

/**
 * Renders a future ISO 8601 time as relative time, with the exact time in a tooltip. Shows `over`
 * once it has passed.
 */
export function TimeLeft(props: { until: string; over: string; tabIndex?: number }) {
  const { until, over, tabIndex } = props
  const moment = Date.parse(until)
  const message = useClock((now) => formatTimeLeft(moment - now) || over)
  return (
    <time dateTime={until} data-tip={exactTime(moment)} tabIndex={tabIndex}>
      {message}
    </time>
  )
}
