import type { EndpointChangeView } from '../../../server/contract/endpoints/endpoint-change.ts'
import { formatCount } from '../../shared/ui/text/format-number.ts'

type Kind = Pick<EndpointChangeView, 'total' | 'removals' | 'undoOf'>

const formatItems = ({ undoOf }: Kind, count: number) =>
  `${formatCount(count)} ${undoOf === null ? 'endpoint' : 'change'}${count === 1 ? '' : 's'}`

const formatOutcome = ({ undoOf, removals, total }: Kind, count: number) =>
  `${count === 1 ? 'was' : 'were'} ${
    undoOf !== null ? 'undone' : removals === total ? 'removed' : 'changed'
  }`

/** Formats a running bulk change: "Removing 5,000 endpoints", "Undoing 12 changes". */
export function formatBulkProgress(view: Kind): string {
  const { undoOf, removals, total } = view
  const verb = undoOf !== null ? 'Undoing' : removals === total ? 'Removing' : 'Changing'
  return `${verb} ${formatItems(view, total)}`
}

/** Formats a finished bulk change: "98 of 100 endpoints were changed. 2 failed." */
export function formatBulkResult(view: EndpointChangeView): string {
  const { state, total, made, unchanged, failed, left } = view
  const first =
    made === total
      ? `${formatItems(view, total)} ${formatOutcome(view, total)}.`
      : `${formatCount(made)} of ${formatItems(view, total)} ${formatOutcome(view, made)}.`
  const sentences = [
    state === 'cancelled' && 'Cancelled.',
    state === 'stopped' && `Stopped: ${view.actor} no longer has permission to change endpoints.`,
    first,
    unchanged > 0 && `${formatCount(unchanged)} needed no change.`,
    failed > 0 && `${formatCount(failed)} failed.`,
    left > 0 && `${formatCount(left)} ${left === 1 ? 'was' : 'were'} not started.`,
  ]
  return sentences.filter((sentence) => sentence !== false).join(' ')
}
