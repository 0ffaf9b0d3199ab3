import type { ImportProgress } from '../../shared/import/use-import.ts'
import { formatCount } from '../../ui/text/format-number.ts'
import { countOutcomes } from '../bulk/bulk-run.ts'
import type { BulkRun } from '../bulk/bulk-store.ts'
import { formatKnown } from '../bulk/format-bulk.ts'
import { formatList } from '../model/format-list.ts'
import { countChanges, type ImportPlan } from './import-plan.ts'

/** Formats a count with its noun: "1 endpoint", "1,204 endpoints". */
export const formatPlural = (count: number, thing: string): string =>
  `${formatCount(count)} ${thing}${count === 1 ? '' : 's'}`

/** Summarizes the changes of an import. */
export function formatPlan({ changes, unchanged, others }: ImportPlan, remove: boolean): string {
  const { added, changed, removed } = countChanges(changes)
  const parts = [
    added > 0 && `${formatCount(added)} added`,
    changed > 0 && `${formatCount(changed)} changed`,
    removed > 0 && `${formatCount(removed)} removed`,
  ].filter((part) => part !== false)
  const same = unchanged.length
  const sentences = [
    // "1 will be added and 2 changed."
    parts.length > 0 && `${formatList(parts).replace(' ', ' will be ')}.`,
    same > 0 && `${formatCount(same)} ${same === 1 ? 'is' : 'are'} unchanged.`,
    parts.length === 0 && same === 0 && 'The file is empty.',
    !remove && others.length > 0 && formatKept(others.length),
  ]
  return sentences.filter((sentence) => sentence !== false).join(' ')
}

const formatKept = (count: number): string =>
  count === 1
    ? 'The endpoint that is not in the file will be kept.'
    : `The ${formatCount(count)} endpoints that are not in the file will be kept.`

/** Describes an import in progress: "120 of 3,000 changes made, 2 failed." */
export function formatImportProgress(run: BulkRun): ImportProgress {
  const { total, made, unchanged, failures } = run
  const failed = failures.length > 0 ? `, ${formatCount(failures.length)} failed` : ''
  return {
    fraction: countOutcomes(run) / total,
    text: `${formatCount(made + unchanged)} of ${formatPlural(total, 'change')} made${failed}.`,
  }
}

/** Describes the outcome of an import. */
export function formatImportResult(run: BulkRun): string {
  const { total, unchanged, failures, end } = run
  const made = run.made + unchanged
  const left = total - countOutcomes(run)
  const counted = `${formatCount(made)} of ${formatPlural(total, 'change')} ${made === 1 ? 'was' : 'were'} made.`
  const refused = failures.length === 0 ? '' : ` ${formatCount(failures.length)} failed.`
  if (end !== 'completed') {
    const how = end instanceof Error ? end.message : 'Cancelled.'
    return `${how} ${formatKnown(made, counted)}${refused}`
  }
  const all = total === 1 ? 'The change was made.' : `All ${formatCount(total)} changes were made.`
  const held =
    left === 0
      ? ''
      : ` ${formatPlural(left, 'endpoint')} ${left === 1 ? 'was' : 'were'} not removed, because another change failed.`
  return `${made === total ? all : counted}${refused}${held}`
}
