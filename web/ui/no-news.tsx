import { sayLeft } from './countdown.tsx'
import { useClock } from './use-clock.ts'

/** "no news for 40 s": of a node that fell silent at that moment (ISO 8601). */
export function NoNews({ since }: { since: string }) {
  const moment = Date.parse(since)
  return useClock((now) => `no news for ${sayLeft(now - moment)}`)
}
