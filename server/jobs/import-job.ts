import type { OnConflict } from '../contract/import.ts'
import type { StoredPart } from '../documents/import/stored-part.ts'
import type { CollectionRef } from '../storage/document-ref.ts'
import type { DocumentRules, Job } from './job.ts'
import { type JobRepository, LEASE } from './repository.ts'

/** Maximum number of records that are staged in one transaction, and of their characters. */
const STAGE_LIMITS = { records: 1_000, size: 1024 * 1024 } as const

export interface ImportJobDeps {
  readonly repository: JobRepository
  /** Throws if too many jobs are in progress. */
  readonly allow: (where: CollectionRef) => Promise<void>
  readonly pause: () => Promise<unknown>
  readonly wake: () => void
}

/** Starts an import whose documents are stored by a job. */
export type BeginImport = (
  where: CollectionRef,
  onConflict: OnConflict,
  parts: AsyncIterable<StoredPart>,
) => Promise<{ readonly id: string }>

/**
 * Returns a {@link BeginImport}. It stages the records as they arrive. The job is durable when the
 * promise resolves, and nothing is stored if `parts` throws.
 */
export const createBeginImport =
  ({ repository, allow, pause, wake }: ImportJobDeps): BeginImport =>
  async (where, onConflict, parts) => {
    await allow(where)
    let job = await repository.create(where, 'import', 'preparing', { filter: [], onConflict })
    // Records may arrive slowly, so the lease is renewed independently of them.
    const renewal = setInterval(() => void repository.renew(job).catch(() => {}), LEASE / 3).unref()
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
        if (records >= STAGE_LIMITS.records || size >= STAGE_LIMITS.size) await stage()
      }
      await stage()
      await repository.begin(job)
      return { id: job.id }
    } catch (error) {
      await repository.discard([job.id])
      throw error
    } finally {
      clearInterval(renewal)
      wake()
    }
  }

/** Stores some documents of an import; returns the job's new state. */
export async function importNext(
  repository: JobRepository,
  importPart: DocumentRules['importPart'],
  job: Job,
): Promise<Job> {
  const [part = '', line = '0'] = job.cursor?.split(' ') ?? []
  const next = await repository.partAfter(job, part)
  if (next === undefined) return repository.finish(job, async () => job.found)
  const { onConflict = 'fail' } = job.request
  let current = job
  await importPart(job, next.text, {
    onConflict,
    line: Number(line),
    result: job.result,
    async commit(trx, { line, result, done }) {
      const cursor = line === undefined ? next.id : `${part} ${line}`
      current = await repository.advanceImport(trx, current, { cursor, result, done })
    },
  })
  return current
}
