import { formatCount } from '../../shared/ui/text/format-number.ts'
import { formatList } from '../model/list/format-list.ts'
import { countChanges, type ImportPlan } from './import-plan.ts'
import type { ImportRun } from './import-run.ts'

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

/** Describes the outcome of an import. */
export function formatImportResult(run: ImportRun): string {
  const { total, made, failed, failures, end } = run
  const left = total - made - failed
  const all = made === total
  const first = all
    ? total === 1
      ? 'The change was made.'
      : `All ${formatCount(total)} changes were made.`
    : `${formatCount(made)} of ${formatPlural(total, 'change')} ${made === 1 ? 'was' : 'were'} made.`
  const unread = failures === undefined ? ' The list of failures could not be loaded.' : ''
  const refused = failed === 0 ? '' : ` ${formatCount(failed)} failed.${unread}`
  if (end?.by === 'cancel') return `Cancelled. ${first}${refused}`
  if (end?.by === 'disconnection') {
    return 'This page was disconnected by the import. Open the console at another endpoint to see the outcome.'
  }
  if (end?.by === 'interruption') return `${end.error.message} ${first}${refused}`
  const held =
    left === 0 || all
      ? ''
      : ` ${formatPlural(left, 'endpoint')} ${left === 1 ? 'was' : 'were'} not removed, because another change failed.`
  return `${first}${refused}${held}`
}
