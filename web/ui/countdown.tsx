import { useClock } from './use-clock.ts'

/** From here on a countdown speaks of minutes, in seconds. */
const MINUTES_FROM = 100

/** What is left of a number of milliseconds: "8 s", "3 min", never below "0 s". */
export function sayLeft(milliseconds: number): string {
  const seconds = Math.max(0, Math.ceil(milliseconds / 1_000))
  return seconds < MINUTES_FROM ? `${seconds} s` : `${Math.round(seconds / 60)} min`
}

/** The time that is left until a moment (milliseconds since 1970), counted down. */
export function Countdown({ to }: { to: number }) {
  return useClock((now) => sayLeft(to - now))
}
