import { requireDatabase } from '../storage/sql/database-exists.ts'
import type { Store } from '../storage/store.ts'
import { type Job, toJob } from './job.ts'
import type { Lease, RenewalTimer } from './lease.ts'

/**
 * Returns the queries that acquire, renew and release the leases of jobs.
 *
 * @param kept receives the jobs whose lease `keepLease` renews, once for each call.
 */
export function createClaims(
  { db, engine, transaction }: Store,
  { nodeId, renewal, updateHeld }: Lease,
  leaseClock: () => number,
  timer: RenewalTimer,
  kept: Set<{ readonly id: string }>,
) {
  const held = () => db.selectFrom('jobs').select('id').where('claimed_by', '=', nodeId)

  /**
   * Renews the leases of jobs until the returned function is called. Skips jobs that a transaction
   * is changing, as other nodes do.
   *
   * @param afterwards called after each renewal.
   */
  function keep(
    jobs: ReturnType<typeof held>,
    afterwards = async (): Promise<void> => {},
  ): () => void {
    const unlocked = jobs.$if(engine === 'postgres', (query) => query.forUpdate().skipLocked())
    return timer(() => {
      const renewed = db.updateTable('jobs').set(renewal()).where('id', 'in', unlocked).execute()
      // The timer repeats a renewal that fails.
      renewed.then(afterwards).catch(() => {})
    })
  }

  return {
    /**
     * Ends the preparation. The job is `running` from now on, and any node may claim it.
     *
     * @throws Failure `database-not-found` if the database was dropped
     */
    begin: (job: Job): Promise<Job> =>
      transaction(async (trx) => {
        const total = job.total ?? job.done
        const begun = await updateHeld(trx, job, { state: 'running', total, claimed_until: 0 })
        await requireDatabase(trx, job.database)
        return begun
      }),

    /** Renews the lease of a job of a request until the returned function is called. */
    keepLease({ id }: Job): () => void {
      const job = { id }
      kept.add(job)
      const stop = keep(held().where('id', '=', id).where('state', '=', 'preparing'))
      return () => {
        kept.delete(job)
        stop()
      }
    },

    /**
     * Renews the leases of this node's running jobs until the returned function is called.
     *
     * @param active returns the ids of the jobs that this node runs.
     * @param onLost called with the id of each of them that this node does not hold: the job was
     * cancelled or discarded, or another node has claimed it.
     */
    keepLeases: (active: () => string[], onLost: (id: string) => void): (() => void) =>
      keep(held().where('state', '=', 'running').where('claimed_until', '>', 0), async () => {
        const ids = active()
        if (ids.length === 0) return
        const rows = await held().where('state', '=', 'running').where('id', 'in', ids).execute()
        const found = new Set(rows.map(({ id }) => id))
        for (const id of ids) if (!found.has(id)) onLost(id)
      }),

    /**
     * Claims the oldest running job whose lease has expired, changes before listings. Ignores jobs
     * that a transaction is changing: their node ends them, however long it takes.
     */
    async claim(): Promise<Job | undefined> {
      const due = db
        .selectFrom('jobs')
        .select('id')
        .where('state', '=', 'running')
        .where('claimed_until', '<', leaseClock())
        .orderBy((eb) => eb('kind', '=', 'list'))
        .orderBy('created_at')
        .limit(1)
      // A read-only PostgreSQL rejects the update even if no job is due.
      if ((await due.executeTakeFirst()) === undefined) return undefined
      const row = await db
        .updateTable('jobs')
        .set(renewal())
        .where(
          'id',
          '=',
          due.$if(engine === 'postgres', (query) => query.forUpdate().skipLocked()),
        )
        .returningAll()
        .executeTakeFirst()
      return row && toJob(row)
    },

    /** Releases this node's running jobs, so that any node can resume them immediately. */
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
