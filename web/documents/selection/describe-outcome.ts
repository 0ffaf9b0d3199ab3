import { formatCount } from '../../shared/ui/text/format-number.ts'
import type { DocumentFailure, SelectionOutcome } from './change-selected.ts'

/** Maximum number of failures that a report lists. */
const MAX_LISTED = 3

/** Returns a number of documents in words: "1 document", "1,200 documents". */
export const formatDocuments = (count: number): string =>
  `${formatCount(count)} ${count === 1 ? 'document' : 'documents'}`

/** Returns documents that someone else deleted in words: "2 documents no longer exist." */
export const describeGone = (count: number): string =>
  `${formatDocuments(count)} no longer ${count === 1 ? 'exists' : 'exist'}.`

/**
 * Returns an outcome in words: "3 documents were deleted. 1 document may or may not have been
 * deleted. 2 documents could not be deleted."
 */
export function describeOutcome({ verb, changes, failures, gone }: SelectionOutcome): string {
  const done = changes.length
  const unknown = failures.filter(({ isUnknown }) => isUnknown).length
  const failed = failures.length - unknown
  const sentences = [
    done > 0 && `${formatDocuments(done)} ${done === 1 ? 'was' : 'were'} ${verb}.`,
    unknown > 0 && `${formatDocuments(unknown)} may or may not have been ${verb}.`,
    failed > 0 && `${formatDocuments(failed)} could not be ${verb}.`,
    gone > 0 && describeGone(gone),
  ]
  return sentences.filter((sentence) => sentence !== false).join(' ')
}

/** Returns the failures that a report lists, and a sentence that counts the others. */
export function listFailures(failures: readonly DocumentFailure[]) {
  const others = failures.length - MAX_LISTED
  return {
    listed: failures.slice(0, MAX_LISTED),
    unlisted:
      others > 0
        ? `${formatCount(others)} other ${others === 1 ? 'document is' : 'documents are'} not listed.`
        : undefined,
  }
}
