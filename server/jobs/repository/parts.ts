import type { StoredPart } from '../../documents/import/stored-part.ts'
import type { Store } from '../../storage/store.ts'
import type { Job } from '../job.ts'
import type { Lease } from './lease.ts'

/** Number of rows per insert, because engines limit the parameters of a statement. */
const INSERT_ROWS = 100

/** Returns the queries on the parts of imports, which jobs store after their requests have ended. */
export function createParts({ db, transaction }: Store, { updateHeld }: Lease) {
  return {
    /** Stores parts of an import, after `before` others. */
    stageParts(job: Job, parts: readonly StoredPart[], before: number): Promise<Job> {
      const records = parts.reduce((sum, part) => sum + part.records, job.total ?? 0)
      return transaction(async (trx) => {
        const next = await updateHeld(trx, job, { total: records })
        for (let at = 0; at < parts.length; at += INSERT_ROWS) {
          const rows = parts.slice(at, at + INSERT_ROWS).map(({ text }, offset) => {
            return { job: job.id, id: partId(before + at + offset), seen: '', tag: '', body: text }
          })
          await trx.insertInto('job_documents').values(rows).execute()
        }
        return next
      })
    },

    /** Returns the part of an import after another one; `after` is empty for the first. */
    partAfter: ({ id: job }: Job, after: string) =>
      db
        .selectFrom('job_documents')
        .select(['id', 'body as text'])
        .where('job', '=', job)
        .where('id', '>', after)
        .orderBy('id')
        .limit(1)
        .executeTakeFirst(),
  }
}

/** Returns ids that sort by number. */
const partId = (number: number) => String(number).padStart(12, '0')
