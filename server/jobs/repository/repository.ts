import type { Transaction } from 'kysely'
import type { StoredPart } from '../../documents/import/stored-part.ts'
import { Failure } from '../../failure.ts'
import type { Change } from '../../storage/changes/transactions.ts'
import { requireDatabase } from '../../storage/sql/database-exists.ts'
import type { Store } from '../../storage/store.ts'
import type { Tables } from '../../storage/tables.ts'
import { type Job, toJob } from '../job.ts'
import { createClaims } from './claims.ts'
import { createCleanup } from './cleanup.ts'
import { createCreation } from './creation.ts'
import type { Lease } from './lease.ts'
import { createLease, renewalTimer } from './lease.ts'
import { createProgress } from './progress.ts'

/** The jobs of a store, with the leases of one node. */
export type JobRepository = ReturnType<typeof createJobRepository>

/** Returns the repository of jobs. For the clocks, see `JobsDeps`. */
export function createJobRepository(
  store: Store,
  now: () => number,
  leaseClock = now,
  timer = renewalTimer,
) {
  const { db } = store
  const lease = createLease(now, leaseClock)
  const kept = new Set<{ readonly id: string }>()

  return {
    async read(id: string): Promise<Job | undefined> {
      const row = await db.selectFrom('jobs').selectAll().where('id', '=', id).executeTakeFirst()
      return row && toJob(row)
    },

    /**
     * Returns the failure of a request whose job this node no longer holds.
     *
     * @throws Failure `database-not-found` if the database was dropped
     */
    async lostFailure(database: string): Promise<Failure> {
      await requireDatabase(db, database)
      return new Failure('unavailable', 'The change was cancelled. Nothing was changed.')
    },

    ...createCreation(store, lease, now, leaseClock),
    ...createClaims(store, lease, leaseClock, timer, kept),
    ...createParts(store, lease),
    ...createProgress(store, lease),
    ...createCancellation(store, now),
    ...createCleanup(store, now, leaseClock, kept),
  }
}

/** Returns the queries that cancel jobs. */
function createCancellation({ transaction, change }: Store, now: () => number) {
  async function cancel(trx: Transaction<Tables>, { id }: Job): Promise<Job | undefined> {
    const row = await trx
      .updateTable('jobs')
      .set({ state: 'cancelled', updated_at: now() })
      .where('id', '=', id)
      .where('state', '=', 'running')
      .returningAll()
      .executeTakeFirst()
    return row && toJob(row)
  }

  return {
    /**
     * Cancels a running job, after the step in progress: no node can store anything for it from now
     * on. Returns undefined if the job is not running.
     */
    cancel: (job: Job): Promise<Job | undefined> => transaction((trx) => cancel(trx, job)),

    /** Cancels a job whose end the audit log records, in the same transaction. */
    cancelAudited: (
      job: Job,
      record: (trx: Change, job: Job) => Promise<void>,
    ): Promise<Job | undefined> =>
      change(async (trx) => {
        const cancelled = await cancel(trx, job)
        if (cancelled !== undefined) await record(trx, cancelled)
        return cancelled
      }),
  }
}

/** Number of rows per insert, because engines limit the parameters of a statement. */
const INSERT_ROWS = 100

/** Returns the queries on the parts of imports, which jobs store after their requests have ended. */
function createParts({ db, transaction }: Store, { updateHeld }: Lease) {
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
