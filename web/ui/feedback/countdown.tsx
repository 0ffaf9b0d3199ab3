import { useClock } from '../text/use-clock.ts'

/** Threshold, in seconds, from which a countdown shows minutes. */
const MINUTES_FROM = 100

/** Formats a duration in milliseconds: "8 s", "3 min". Negative durations give "0 s". */
export function formatRemaining(milliseconds: number): string {
  const seconds = Math.max(0, Math.ceil(milliseconds / 1_000))
  return seconds < MINUTES_FROM ? `${seconds} s` : `${Math.round(seconds / 60)} min`
}

/** Counts down to a time, in milliseconds since the Unix epoch. */
export function Countdown({ to }: { to: number }) {
  return useClock((now) => formatRemaining(to - now))
}

/** Renders "unreachable for 40 s" for a node that became unreachable at an ISO 8601 time. */
export function UnreachableSince(props: { since: string; word?: string }) {
  const { since, word = 'unreachable' } = props
  const moment = Date.parse(since)
  return useClock((now) => `${word} for ${formatRemaining(now - moment)}`)
}
