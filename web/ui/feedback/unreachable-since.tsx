import { useClock } from '../text/use-clock.ts'
import { formatRemaining } from './countdown.tsx'

/** Renders "unreachable for 40 s" for a node that became unreachable at an ISO 8601 time. */
export function UnreachableSince(props: { since: string; word?: string }) {
  const { since, word = 'unreachable' } = props
  const moment = Date.parse(since)
  return useClock((now) => `${word} for ${formatRemaining(now - moment)}`)
}
