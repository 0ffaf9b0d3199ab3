import { useClock } from '../text/use-clock.ts'
import { formatRemaining } from './countdown.tsx'

/** Renders "no news for 40 s" for a node that became unreachable at an ISO 8601 time. */
export function UnreachableSince({ since }: { since: string }) {
  const moment = Date.parse(since)
  return useClock((now) => `no news for ${formatRemaining(now - moment)}`)
}
