import { formatCount } from '../../shared/ui/text/format-number.ts'
import { type BulkRun, countOutcomes } from './bulk-run.ts'

type Kind = Pick<BulkRun, 'kind' | 'total' | 'removals'>

const formatItems = ({ kind }: Kind, count: number) =>
  `${formatCount(count)} ${kind === 'undo' ? 'change' : 'endpoint'}${count === 1 ? '' : 's'}`

const formatOutcome = ({ kind, removals, total }: Kind, count: number) =>
  `${count === 1 ? 'was' : 'were'} ${
    kind === 'undo' ? 'undone' : removals === total ? 'removed' : 'changed'
  }`

/** Formats a running bulk change: "Removing 5,000 endpoints", "Undoing 12 changes". */
export function formatBulkProgress(run: Kind): string {
  const { kind, removals, total } = run
  const verb = kind === 'undo' ? 'Undoing' : removals === total ? 'Removing' : 'Changing'
  return `${verb} ${formatItems(run, total)}`
}

/** Formats a finished bulk change: "98 of 100 endpoints were changed. 2 failed." */
export function formatBulkResult(run: BulkRun): string {
  const { end, total, made, unchanged, failures } = run
  const left = total - countOutcomes(run)
  const first =
    made === total
      ? `${formatItems(run, total)} ${formatOutcome(run, total)}.`
      : `${formatCount(made)} of ${formatItems(run, total)} ${formatOutcome(run, made)}.`
  const sentences = [
    end === 'cancelled' && 'Cancelled.',
    end instanceof Error && end.message,
    first,
    unchanged > 0 && `${formatCount(unchanged)} needed no change.`,
    failures.length > 0 && `${formatCount(failures.length)} failed.`,
    left > 0 && formatLeft(run, left),
  ]
  return sentences.filter((sentence) => sentence !== false).join(' ')
}

/** The page does not know the outcome of changes that were in progress when it disconnected. */
const formatLeft = ({ end }: BulkRun, left: number) =>
  end === 'completed'
    ? `${formatCount(left)} ${left === 1 ? 'was' : 'were'} not started.`
    : `A few of the other ${formatCount(left)} may have been changed.`
