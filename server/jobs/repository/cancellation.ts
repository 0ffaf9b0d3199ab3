import { sql, type Transaction } from 'kysely'
import type { Change } from '../../storage/changes/transactions.ts'
import type { Store } from '../../storage/store.ts'
import type { Tables } from '../../storage/tables.ts'
import { type Job, toJob } from '../job.ts'

/** Thrown by the last change of a job while a request waits to cancel the job. */
export class CancelRequested extends Error {}

/** Returns the queries that cancel jobs. */
export function createCancellation({ db, engine, transaction, change }: Store, now: () => number) {
  async function cancel(
    trx: Transaction<Tables>,
    { id }: Job,
    state: 'cancelled' | 'cancelling',
  ): Promise<Job | undefined> {
    if (engine === 'postgres') {
      await sql`select pg_advisory_xact_lock_shared(${keyOf(id)})`.execute(trx)
    }
    const row = await trx
      .updateTable('jobs')
      .set({ state, updated_at: now() })
      .where('id', '=', id)
      .where('state', '=', 'running')
      .returningAll()
      .executeTakeFirst()
    return row && toJob(row)
  }

  return {
    /**
     * Cancels a running job: no node can store anything for it from now on. Returns undefined if
     * the job is not running. On PostgreSQL, waits until its node stops the last change of the job;
     * see `requireNotCancelled`.
     *
     * @param state `cancelling` if its staged rows must be kept.
     */
    cancel: (job: Job, state: 'cancelled' | 'cancelling'): Promise<Job | undefined> =>
      transaction((trx) => cancel(trx, job, state)),

    /** Cancels a job whose end the audit log records, in the same transaction. */
    cancelAudited: (
      job: Job,
      record: (trx: Change, job: Job) => Promise<void>,
    ): Promise<Job | undefined> =>
      change(async (trx) => {
        const cancelled = await cancel(trx, job, 'cancelled')
        if (cancelled !== undefined) await record(trx, cancelled)
        return cancelled
      }),

    /**
     * Throws if a request waits to cancel a job. A transaction that has locked the row of the job
     * calls this, because it is the one that the request waits for. PostgreSQL only.
     *
     * @throws CancelRequested
     */
    async requireNotCancelled(trx: Transaction<Tables>, { id }: Job): Promise<void> {
      const { rows } = await sql<{ free: boolean }>`
        select case when pg_try_advisory_lock(${keyOf(id)}) then pg_advisory_unlock(${keyOf(id)})
        else false end as free`.execute(trx)
      if (rows[0]?.free !== true) throw new CancelRequested()
    },

    /** Returns the cancelled jobs whose reserved values are not yet released. */
    async cancelling(): Promise<Job[]> {
      const rows = await db
        .selectFrom('jobs')
        .selectAll()
        .where('state', '=', 'cancelling')
        .execute()
      return rows.map(toJob)
    },

    /** Ends the cancellation of a job. Its staged rows are deleted from now on. */
    async endCancelling({ id }: Job): Promise<void> {
      await db
        .updateTable('jobs')
        .set({ state: 'cancelled' })
        .where('id', '=', id)
        .where('state', '=', 'cancelling')
        .execute()
    },
  }
}

/** Returns the key of the advisory lock that requests hold while they cancel a job. */
const keyOf = (id: string) => sql`hashtext('jobs'), hashtext(${id})`
