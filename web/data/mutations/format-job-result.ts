import type { JobView } from '../../../server/contract/job.ts'
import { capitalize } from '../../ui/text/capitalize.ts'
import { formatCount } from '../../ui/text/format-number.ts'

const gerunds: Record<JobView['kind'], string> = {
  delete: 'Deleting',
  patch: 'Changing',
  list: 'Listing',
  import: 'Importing',
}

/** What a job does, as a noun. */
export const jobNouns: Record<JobView['kind'], string> = {
  delete: 'deletion',
  patch: 'change',
  list: 'listing',
  import: 'import',
}

const verbs: Record<JobView['kind'], string> = {
  delete: 'deleted',
  patch: 'changed',
  list: 'listed',
  import: 'imported',
}

/** Formats a job as a title, such as "Changing documents", "Documents changed" or "Change failed". */
export function formatJobTitle({ kind, state }: Pick<JobView, 'kind' | 'state'>): string {
  if (state === 'running') return `${gerunds[kind]} documents`
  if (state === 'done') return `Documents ${verbs[kind]}`
  return capitalize(`${jobNouns[kind]} ${state}`)
}

/** Formats a job that has ended: "12 documents of articles were changed." */
export function formatJobResult(job: JobView): string {
  const { kind, found, failure, state, result } = job
  const changed = `${formatCount(found)} document${found === 1 ? '' : 's'} of ${placeOf(job)} ${found === 1 ? 'was' : 'were'} ${verbs[kind]}.`
  const failed = result?.failed ?? 0
  const rejected =
    failed === 0
      ? ''
      : ` ${formatCount(failed)} ${failed === 1 ? 'document was' : 'documents were'} rejected.`
  if (state === 'cancelled') return `The job was cancelled. ${changed}${rejected}`
  return `${changed}${rejected}${failure === null ? '' : ` ${failure.message}`}`
}

/** Returns what a job changes: a collection, or "the database". */
export const placeOf = ({ collection }: JobView): string => collection ?? 'the database'
