import type { Transaction } from 'kysely'
import type { Change } from '../../storage/changes/transactions.ts'
import type { Store } from '../../storage/store.ts'
import type { Tables } from '../../storage/tables.ts'
import { type Job, toJob } from '../job.ts'

/** Returns the queries that cancel jobs. */
export function createCancellation({ transaction, change }: Store, now: () => number) {
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
