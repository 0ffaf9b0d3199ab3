import { formatCount } from '../../shared/ui/text/format-bytes.ts'
import type { SelectionOutcome } from './change-selected.ts'

/** Returns a number of documents in words: "1 document", "1,200 documents". */
export const formatDocuments = (count: number): string =>
  `${formatCount(count)} ${count === 1 ? 'document' : 'documents'}`

/** Returns an outcome in words: "3 documents were deleted. 1 was not." */
export function describeOutcome({ changes, failures }: SelectionOutcome): string {
  const verb = changes.every(({ after }) => after === undefined) ? 'deleted' : 'changed'
  const done = changes.length
  const made = `${formatDocuments(done)} ${done === 1 ? 'was' : 'were'} ${verb}.`
  const failed = failures.length
  if (failed === 0) return made
  const others = `${formatDocuments(failed)} could not be ${done === 0 ? 'changed' : verb}.`
  return done === 0 ? others : `${made} ${others}`
}
