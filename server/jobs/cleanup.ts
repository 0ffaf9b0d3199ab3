import { sql } from 'kysely'
import { JOB_RETENTION, MAX_LISTINGS } from '../contract/job.ts'
import { limitBytes } from '../storage/changes/portions.ts'
import type { Store } from '../storage/store.ts'

/** Maximum number of rows that one cleanup step deletes, and of their bytes. */
const CLEANUP_ROWS = 500
const CLEANUP_BYTES = 4 * 1024 * 1024

/**
 * Returns the queries that discard and delete jobs.
 *
 * @param kept the jobs whose lease this node renews. They are not stale, even if the process was
 * suspended for longer than a lease.
 */
export function createCleanup(
  { db, engine }: Store,
  now: () => number,
  leaseClock: () => number,
  kept: ReadonlySet<{ readonly id: string }>,
) {
  /** Marks jobs in any state for deletion. */
  async function discard(ids: readonly string[]): Promise<void> {
    await db
      .updateTable('jobs')
      .set({ state: 'discarded', clean: 0 })
      .where('id', 'in', ids)
      .execute()
  }

  return {
    discard,

    /**
     * Discards the oldest completed and cancelled listings of a database, beyond
     * {@link MAX_LISTINGS}.
     */
    async discardListings(database: string): Promise<void> {
      const oldest = db
        .selectFrom('jobs')
        .select('id')
        .where('database', '=', database)
        .where('kind', '=', 'list')
        .where('state', 'in', ['done', 'cancelled'])
        .orderBy('created_at', 'desc')
        .limit(CLEANUP_ROWS)
        .offset(MAX_LISTINGS)
      const rows = await oldest.execute()
      if (rows.length > 0) await discard(rows.map(({ id }) => id))
    },

    /**
     * Discards obsolete jobs: expired ones, those of dropped databases, and unfinished ones of a
     * dead node. Skips jobs that a transaction is changing: their node is alive.
     */
    async discardStale(): Promise<void> {
      const stale = db
        .selectFrom('jobs')
        .select('id')
        .where('state', '!=', 'discarded')
        .$if(kept.size > 0, (query) =>
          query.where(
            'id',
            'not in',
            [...kept].map(({ id }) => id),
          ),
        )
        .where((eb) =>
          eb.or([
            eb.and([
              eb('state', 'in', ['done', 'failed', 'cancelled']),
              eb('updated_at', '<=', now() - JOB_RETENTION),
            ]),
            eb.and([eb('state', '=', 'preparing'), eb('claimed_until', '<', leaseClock())]),
            eb.and([
              eb('database', '!=', '_system'),
              eb('database', 'not in', eb.selectFrom('databases').select('databases.id')),
            ]),
          ]),
        )
        .limit(CLEANUP_ROWS)
      // A read-only PostgreSQL rejects the update even if no job is stale.
      if ((await stale.executeTakeFirst()) === undefined) return
      await db
        .updateTable('jobs')
        .set({ state: 'discarded', clean: 0 })
        .where(
          'id',
          'in',
          stale.$if(engine === 'postgres', (query) => query.forUpdate().skipLocked()),
        )
        .execute()
    },

    /** Deletes some rows of an ended job; returns false if there are none. */
    async deleteEnded(): Promise<boolean> {
      const job = await db
        .selectFrom('jobs')
        .select(['id', 'state'])
        .where('state', 'in', ['done', 'failed', 'cancelled', 'discarded'])
        .where('clean', '=', 0)
        .limit(1)
        .executeTakeFirst()
      if (job === undefined) return false
      const documents = await db
        .selectFrom('job_documents')
        .select(['id', sql<number>`octet_length(body)`.as('bytes')])
        .where('job', '=', job.id)
        .orderBy('id')
        .limit(CLEANUP_ROWS)
        .execute()
      const last = documents[limitBytes(documents, CLEANUP_BYTES) - 1]
      if (last !== undefined) {
        await db
          .deleteFrom('job_documents')
          .where('job', '=', job.id)
          .where('id', '<=', last.id)
          .execute()
        return true
      }
      if (job.state === 'discarded') {
        await db.deleteFrom('jobs').where('id', '=', job.id).execute()
      } else {
        await db
          .updateTable('jobs')
          .set({ clean: 1 })
          .where('id', '=', job.id)
          // Another node may have just discarded the job. Its row must still be deleted.
          .where('state', '=', job.state)
          .execute()
      }
      return true
    },
  }
}
