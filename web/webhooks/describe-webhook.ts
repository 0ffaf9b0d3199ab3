import type { WebhookDelivery, WebhookGap, WebhookRecord } from '../../server/contract/webhook.ts'
import type { BadgeState } from '../ui/feedback/state-badge.tsx'
import { formatCount } from '../ui/text/format-number.ts'
import { formatAgo } from '../ui/text/relative-time.tsx'

/** How the state of a webhook is shown. */
export const states: Readonly<
  Record<WebhookRecord['state'], { badge: BadgeState; label: string }>
> = {
  active: { badge: 'listening', label: 'Active' },
  failing: { badge: 'failed', label: 'Failing' },
  paused: { badge: 'closed', label: 'Paused' },
}

/** Returns how far a webhook is behind: "412 changes behind, oldest 3 min". */
export function describeBehind({ changes, oldest }: WebhookRecord['behind'], now: number): string {
  if (changes === 0) return 'Up to date'
  const behind = `${formatCount(changes)} ${changes === 1 ? 'change' : 'changes'} behind`
  if (oldest === null) return behind
  const age = formatAgo(now - Date.parse(oldest)).replace(' ago', '')
  return age === 'now' ? behind : `${behind}, oldest ${age}`
}

type Outcome = Pick<WebhookDelivery['outcome'], 'status' | 'milliseconds' | 'error'>

/** Returns the outcome of an attempt: "200 in 12 ms", or why it failed. */
export function describeOutcome({ status, milliseconds, error }: Outcome): string {
  const time = `${formatCount(milliseconds)} ms`
  if (status === null) return `no response after ${time}${error === undefined ? '' : `: ${error}`}`
  return `${status} in ${time}`
}

/** Returns what a delivery contains: "3 changes of articles", or "Test". */
export const describeContent = ({
  collection,
  changes,
}: Pick<WebhookDelivery, 'collection' | 'changes'>): string =>
  collection === null
    ? 'Test'
    : `${formatCount(changes)} ${changes === 1 ? 'change' : 'changes'} of ${collection}`

/** Returns sentences about the changes that were skipped when a webhook was resumed. */
export const describeGaps = (gaps: readonly WebhookGap[]): readonly string[] =>
  gaps.map(({ collection, changes }) => {
    const what =
      changes === null
        ? 'Changes'
        : `${formatCount(changes)} ${changes === 1 ? 'change' : 'changes'}`
    return `${what} of ${collection} had expired and will not be delivered. The receiver must copy the collection again.`
  })
