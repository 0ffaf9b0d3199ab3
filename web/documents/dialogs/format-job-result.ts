import type { JobView } from '../../../server/contract/job.ts'
import { formatCount } from '../../shared/ui/text/format-bytes.ts'

const verbs: Record<JobView['kind'], string> = {
  create: 'created',
  delete: 'deleted',
  patch: 'changed',
  list: 'listed',
  import: 'imported',
}

/** Formats a job that has ended: "12 documents of articles were changed." */
export function formatJobResult(job: JobView): string {
  const { kind, found, failure, state } = job
  const changed = `${formatCount(found)} document${found === 1 ? '' : 's'} of ${placeOf(job)} ${found === 1 ? 'was' : 'were'} ${verbs[kind]}.`
  const kept = kind === 'import' ? changed : `Nothing was ${verbs[kind]}.`
  if (state === 'cancelled') {
    if (kind === 'import') return `The job was cancelled. ${changed} Imported documents stay.`
    return `The job was cancelled. ${kind === 'list' ? changed : kept}`
  }
  return failure === null ? changed : `${kept} ${failure.message}`
}

/** Returns what a job changes: a collection, or "the database". */
export const placeOf = ({ collection }: JobView): string => collection ?? 'the database'
