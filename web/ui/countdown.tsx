import { useClock } from './use-clock.ts'

/** The seconds until a time (milliseconds since 1970): "8 s", never below "0 s". */
export function Countdown({ to }: { to: number }) {
  return useClock((now) => `${Math.max(0, Math.ceil((to - now) / 1_000))} s`)
}
