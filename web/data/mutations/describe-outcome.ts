import { formatCount } from '../../ui/text/format-number.ts'
import type { SelectionOutcome } from './change-selected.ts'

/** Returns a number of documents in words: "1 document", "1,200 documents". */
export const formatDocuments = (count: number): string =>
  `${formatCount(count)} ${count === 1 ? 'document' : 'documents'}`

/** Returns documents that someone else deleted in words: "2 documents no longer exist" */
export const describeGone = (count: number): string =>
  `${formatDocuments(count)} no longer ${count === 1 ? 'exists' : 'exist'}`

/**
 * Returns an outcome in words: "3 documents deleted, 1 document may or may not have been deleted,
 * 2 documents could not be deleted"
 */
export function describeOutcome({ verb, changes, failures, gone }: SelectionOutcome): string {
  const done = changes.length
  const unknown = failures.filter(({ isUnknown }) => isUnknown).length
  const failed = failures.length - unknown
  const parts = [
    done > 0 && `${formatDocuments(done)} ${verb}`,
    unknown > 0 && `${formatDocuments(unknown)} may or may not have been ${verb}`,
    failed > 0 && `${formatDocuments(failed)} could not be ${verb}`,
    gone > 0 && describeGone(gone),
  ]
  return parts.filter((part) => part !== false).join(', ')
}
