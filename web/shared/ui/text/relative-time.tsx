import { useClock } from './use-clock.ts'

const exact = new Intl.DateTimeFormat(undefined, {
  dateStyle: 'medium',
  timeStyle: 'long',
})

/** A moment (milliseconds since 1970) to the second, with its zone. */
export const exactTime = (moment: number): string => exact.format(moment)

const steps = [
  ['s', 60],
  ['min', 60],
  ['h', 24],
  ['d', Number.POSITIVE_INFINITY],
] as const

/** How long ago, in one unit: "now", "12 s ago", "3 min ago", "2 h ago", "5 d ago". */
export function sayAgo(milliseconds: number): string {
  let count = Math.floor(milliseconds / 1_000)
  if (count < 2) return 'now'
  for (const [unit, next] of steps) {
    if (count < next) return `${count} ${unit} ago`
    count = Math.floor(count / next)
  }
  return ''
}

/** A past time (ISO 8601), told relatively; exact, with its zone, when pointed at or focused. */
export function RelativeTime({ time, tabIndex }: { time: string; tabIndex?: number }) {
  const moment = Date.parse(time)
  const ago = useClock((now) => sayAgo(now - moment))
  return (
    <time dateTime={time} data-tip={exactTime(moment)} tabIndex={tabIndex}>
      {ago}
    </time>
  )
}
