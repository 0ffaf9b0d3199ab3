import type { QueryClient } from '@tanstack/react-query'
import type { ToastOptions } from '../../shared/toast/toast.ts'
import { formatCount } from '../../ui/text/format-number.ts'
import { canUndoBulk, countOutcomes, undoBulk } from './bulk-run.ts'
import type { BulkRun } from './bulk-store.ts'

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
  // The number of changes of a cancelled bulk change is not known.
  return total === 0 ? `${verb} changes` : `${verb} ${formatItems(run, total)}`
}

/** Formats a finished bulk change: "98 of 100 endpoints were changed. 2 failed." */
export function formatBulkResult(run: BulkRun): string {
  const { end, total, made, unchanged, failures } = run
  const left = total - countOutcomes(run)
  const counted = `${formatCount(made)} of ${formatItems(run, total)} ${formatOutcome(run, made)}.`
  const first =
    made === total ? `${formatItems(run, total)} ${formatOutcome(run, total)}.` : counted
  const sentences = [
    end === 'cancelled' && 'Cancelled.',
    end instanceof Error && end.message,
    end === 'completed' ? first : formatKnown(made, counted),
    unchanged > 0 && `${formatCount(unchanged)} needed no change.`,
    failures.length > 0 && `${formatCount(failures.length)} failed.`,
    end === 'completed' &&
      left > 0 &&
      `${formatCount(left)} ${left === 1 ? 'was' : 'were'} not started.`,
  ]
  return sentences.filter((sentence) => sentence !== false).join(' ')
}

/** Describes what is known after a disconnection: further changes may have been in progress. */
export const formatKnown = (made: number, counted: string): string =>
  made === 0 ? 'Changes in progress may have been made.' : `At least ${counted}`

/** Returns the toast of a bulk change that has ended, with Undo if there may be changes to undo. */
export function bulkToast(queryClient: QueryClient, run: BulkRun): ToastOptions {
  const undo = async () => {
    const { ended } = await undoBulk(queryClient, run)
    return bulkToast(queryClient, await ended)
  }
  return {
    text: formatBulkResult(run),
    failures: run.failures.map(({ endpoint: name, reason }) => ({ name, reason })),
    stays: true,
    ...(canUndoBulk(run) && { undo }),
  }
}
