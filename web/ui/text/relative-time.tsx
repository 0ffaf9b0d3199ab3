import { useClock } from './use-clock.ts'

const exact = new Intl.DateTimeFormat(undefined, {
  dateStyle: 'medium',
  timeStyle: 'long',
})

/** Formats a time, in milliseconds since the Unix epoch, to the second with its time zone. */
export const exactTime = (moment: number): string => exact.format(moment)

/** Formats a past time, in milliseconds since the Unix epoch: "11:45", with its date if not today. */
export function formatSince(moment: number): string {
  const time = new Date(moment)
  const isToday = time.toDateString() === new Date().toDateString()
  const date = isToday ? {} : ({ dateStyle: 'medium' } as const)
  return time.toLocaleString(undefined, { ...date, timeStyle: 'short', hourCycle: 'h23' })
}

const unitsOfElapsed = [
  ['s', 60],
  ['min', 60],
  ['h', 24],
  ['d', Number.POSITIVE_INFINITY],
] as const

/** Formats an elapsed time in one unit: "now", "12 s ago", "3 min ago", "2 h ago", "5 d ago". */
export function formatAgo(milliseconds: number): string {
  let count = Math.floor(milliseconds / 1_000)
  if (count < 2) return 'now'
  for (const [unit, next] of unitsOfElapsed) {
    if (count < next) return `${count} ${unit} ago`
    count = Math.floor(count / next)
  }
  return ''
}

/** Renders a past ISO 8601 time as relative time, with the exact time in a tooltip. */
export function RelativeTime({ time, tabIndex }: { time: string; tabIndex?: number }) {
  const moment = Date.parse(time)
  const ago = useClock((now) => formatAgo(now - moment))
  return (
    <time dateTime={time} data-tip={exactTime(moment)} tabIndex={tabIndex}>
      {ago}
    </time>
  )
}

const unitsOfRemaining = [
  ['s', 60],
  ['min', 60],
  ['h', 48],
  ['d', Number.POSITIVE_INFINITY],
] as const
const secondsPer = { s: 1, min: 60, h: 3_600, d: 86_400 } as const

/** Formats the remaining time in one unit, rounded: "in 90 d". Returns '' if none is left. */
export function formatTimeLeft(milliseconds: number): string {
  const seconds = milliseconds / 1_000
  if (seconds <= 0) return ''
  for (const [unit, limit] of unitsOfRemaining) {
    const count = Math.round(seconds / secondsPer[unit])
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
