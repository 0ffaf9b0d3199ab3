import type { Actor } from '../contract/audit.ts'
import { importResultOf } from '../contract/job.ts'
import type { BeginImport, PartImport, StoredPart } from '../documents/import/stored-part.ts'
import type { Failure } from '../failure.ts'
import type { DocumentRules, Job } from './job.ts'
import type { JobRepository } from './job-repository.ts'
import { LeaseLost } from './lease.ts'

/** Maximum number of records or parts that are staged in one transaction, and of their characters. */
const STAGE_LIMITS = { records: 1_000, size: 1024 * 1024 } as const

export interface ImportJobDeps {
  readonly repository: JobRepository
  readonly pause: () => Promise<unknown>
  readonly wake: () => void
}

/**
 * Returns a {@link BeginImport}. It stages the records as they arrive. The job is durable when the
 * promise resolves, and nothing is stored if `parts` throws.
 */
export const createBeginImport =
  ({ repository, pause, wake }: ImportJobDeps): BeginImport =>
  async (where, request, parts, caller) => {
    let job = await repository.create({
      where,
      kind: 'import',
      state: 'preparing',
      request: { filter: [], ...request },
      caller,
    })
    // Records may arrive slowly, so the lease is renewed independently of them.
    const stopRenewing = repository.keepLease(job)
    try {
      let latest: StoredPart[] = []
      let staged = 0
      const stage = async () => {
        job = await repository.stageParts(job, latest, staged)
        staged += latest.length
        latest = []
        await pause()
      }
      for await (const part of parts) {
        latest.push(part)
        const records = latest.reduce((sum, each) => sum + each.records, 0)
        const size = latest.reduce((sum, each) => sum + each.text.length, 0)
        // The definition of a collection is a part without records.
        const count = Math.max(records, latest.length)
        if (count >= STAGE_LIMITS.records || size >= STAGE_LIMITS.size) await stage()
      }
      await stage()
      await repository.begin(job)
      return { id: job.id }
    } catch (error) {
      // A job that cannot be discarded expires. The caller needs the first error.
      await repository.discard([job.id]).catch(() => {})
      if (error instanceof LeaseLost) throw await repository.lostFailure(where.database)
      throw error
    } finally {
      stopRenewing()
      wake()
    }
  }

/** The rules of documents that a step needs besides those of a scan. */
export type StepRules = Pick<DocumentRules, 'importPart' | 'databaseImporter' | 'recordEnd'>

/**
 * Stores some documents of an import, or the definition of a collection; returns the job's new
 * state.
 *
 * @param signal aborted when the job is cancelled, or this node no longer holds it.
 */
export async function importNext(
  repository: JobRepository,
  { importPart, databaseImporter, recordEnd }: StepRules,
  job: Job,
  signal: AbortSignal,
): Promise<Job> {
  const [part = '', line = '0'] = job.cursor?.split(' ') ?? []
  const next = await repository.partAfter(job, part)
  if (next === undefined) return endJob(repository, recordEnd, job)
  const { onConflict = 'fail', audit } = job.request
  let current = job
  const state: PartImport = {
    onConflict,
    line: Number(line),
    result: importResultOf(job.result),
    signal,
    async commit(trx, { line, result, done }) {
      const cursor = line === undefined ? next.id : `${part} ${line}`
      current = await repository.advanceImport(trx, current, { cursor, result, done })
    },
  }
  await (audit?.action === 'database.import'
    ? databaseImporter.part(job.database, next.text, state, audit)
    : importPart(job, next.text, state))
  return current
}

/** What records the end of jobs in the audit log. */
type RecordJobEnd = Pick<DocumentRules['recordEnd'], 'inTransaction'>

/**
 * Ends a job with a failure. Reads the job first, because its last step may have stored documents
 * and its progress.
 */
export async function failJob(
  repository: JobRepository,
  recordEnd: RecordJobEnd,
  job: Job,
  failure: Failure,
): Promise<Job> {
  return endJob(repository, recordEnd, (await repository.read(job.id)) ?? job, failure)
}

/**
 * Cancels a job; returns undefined if it is not running. The documents that it has stored are kept.
 */
export function cancelJob(
  repository: JobRepository,
  recordEnd: RecordJobEnd,
  job: Job,
  actor: Actor,
): Promise<Job | undefined> {
  const { audit } = job.request
  if (audit === undefined) return repository.cancel(job)
  return repository.cancelAudited(job, (trx, cancelled) =>
    recordEnd.inTransaction(trx, audit, countsOf(cancelled), 'incomplete', actor),
  )
}

/** Ends a job, successfully unless a failure is given. */
export function endJob(
  repository: JobRepository,
  recordEnd: RecordJobEnd,
  job: Job,
  failure?: Failure,
): Promise<Job> {
  const { audit } = job.request
  if (audit !== undefined) {
    const end = failure === undefined ? 'complete' : 'incomplete'
    return repository.endAudited(job, failure, (trx) =>
      recordEnd.inTransaction(trx, audit, countsOf(job), end),
    )
  }
  return failure === undefined ? repository.finish(job) : repository.fail(job, failure)
}

/** Returns the counts of an audited job. */
function countsOf({ kind, request, found, result }: Job) {
  if (kind !== 'import') return { deleted: found }
  const none = { created: 0, replaced: 0, skipped: 0, failed: 0 }
  const isDatabase = request.audit?.action === 'database.import'
  return { ...(isDatabase && { collections: 0 }), ...none, ...importResultOf(result) }
}
