import type { Store } from '../../storage/store.ts'
import { type Job, toJob } from '../job.ts'
import type { Lease } from './lease.ts'

/** Returns the queries that acquire, renew and release the leases of jobs. */
export function createClaims(
  { db, engine, transaction }: Store,
  { nodeId, renewal, updateHeld }: Lease,
  leaseClock: () => number,
) {
  return {
    /** Ends the preparation. The job is `running` from now on, and any node may claim it. */
    begin: (job: Job): Promise<Job> =>
      transaction((trx) =>
        updateHeld(trx, job, { state: 'running', total: job.total ?? job.done, claimed_until: 0 }),
      ),

    /** Renews the lease of a job in preparation while no documents arrive. */
    async renewPreparing({ id }: Job): Promise<void> {
      await db
        .updateTable('jobs')
        .set(renewal())
        .where('id', '=', id)
        .where('claimed_by', '=', nodeId)
        .where('state', '=', 'preparing')
        .execute()
    },

    /** Renews the lease of a job. @throws LeaseLost */
    renewLease: (job: Job): Promise<Job> => transaction((trx) => updateHeld(trx, job, {})),

    /** Claims a running job whose lease has expired. */
    async claim(): Promise<Job | undefined> {
      const due = await db
        .selectFrom('jobs')
        .select(['id', 'claimed_until'])
        .where('state', '=', 'running')
        .where('claimed_until', '<', leaseClock())
        .orderBy('created_at')
        .limit(1)
        .executeTakeFirst()
      if (due === undefined) return undefined
      const row = await db
        .updateTable('jobs')
        .set(renewal())
        .where('id', '=', due.id)
        .where('claimed_until', '=', due.claimed_until)
        .returningAll()
        .executeTakeFirst()
      return row && toJob(row)
    },

    /**
     * Releases this node's running jobs, so that any node can resume them immediately. Requests
     * keep the jobs that they wait for.
     */
    async release(): Promise<void> {
      await db
        .updateTable('jobs')
        .set({ claimed_until: 0 })
        .where('claimed_by', '=', nodeId)
        .where('state', '=', 'running')
        .where('claimed_until', '>', 0)
        .execute()
    },

    /**
     * Releases the jobs of earlier processes on SQLite, which has a single node. On PostgreSQL,
     * leases expire instead.
     */
    async releaseDeadNodes(): Promise<void> {
      if (engine !== 'sqlite') return
      await db
        .updateTable('jobs')
        .set({ claimed_until: 0 })
        .where('claimed_until', '>', 0)
        .where('claimed_by', '!=', nodeId)
        .execute()
    },
  }
}
