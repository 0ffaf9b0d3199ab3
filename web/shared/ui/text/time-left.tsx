import { exactTime } from './relative-time.tsx'
import { useClock } from './use-clock.ts'

const steps = [
  ['s', 60],
  ['min', 60],
  ['h', 48],
  ['d', Number.POSITIVE_INFINITY],
] as const
const size = { s: 1, min: 60, h: 3_600, d: 86_400 } as const

/** How much time is left, in one unit and never more than there is: "in 29 d"; '' for none. */
export function sayTimeLeft(milliseconds: number): string {
  const seconds = milliseconds / 1_000
  if (seconds <= 0) return ''
  for (const [unit, most] of steps) {
    const count = Math.floor(seconds / size[unit])
    if (count < most) return `in ${Math.max(1, count)} ${unit}`
  }
  return ''
}

/** A time to come (ISO 8601), told relatively, `over` once it has passed; exact when pointed at. */
export function TimeLeft(props: { until: string; over: string; tabIndex?: number }) {
  const { until, over, tabIndex } = props
  const moment = Date.parse(until)
  const said = useClock((now) => sayTimeLeft(moment - now) || over)
  return (
    <time dateTime={until} data-tip={exactTime(moment)} tabIndex={tabIndex}>
      {said}
    </time>
  )
}
