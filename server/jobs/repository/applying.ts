import type { Transaction } from 'kysely'
import { SYSTEM_DATABASE } from '../../contract/database.ts'
import type { Store } from '../../storage/store.ts'
import type { Tables } from '../../storage/tables.ts'
import { type Job, toJob } from '../job.ts'

/** Returns the queries on committed jobs whose documents are being written. */
export function createApplying({ db }: Store, now: () => number) {
  return {
    /** Returns the jobs that are committed but not yet applied. */
    async applying(): Promise<Job[]> {
      const rows = await db.selectFrom('jobs').selectAll().where('state', '=', 'applying').execute()
      return rows.map(toJob)
    },

    /**
     * Returns the id up to which a job is applied; undefined if the job was discarded or its
     * database was dropped.
     */
    async cursorOf(trx: Transaction<Tables>, { id }: Job): Promise<string | undefined> {
      const row = await trx
        .selectFrom('jobs')
        .select('cursor')
        .where('id', '=', id)
        .where('state', '=', 'applying')
        .where((eb) =>
          eb.or([
            eb('database', '=', SYSTEM_DATABASE),
            eb('database', 'in', eb.selectFrom('databases').select('databases.id')),
          ]),
        )
        .executeTakeFirst()
      return row?.cursor ?? undefined
    },

    async moveCursor(trx: Transaction<Tables>, { id }: Job, cursor: string): Promise<void> {
      await trx.updateTable('jobs').set({ cursor }).where('id', '=', id).execute()
    },

    async endApplied(trx: Transaction<Tables>, { id }: Job): Promise<void> {
      const end = { state: 'done', cursor: null, updated_at: now() }
      await trx.updateTable('jobs').set(end).where('id', '=', id).execute()
    },
  }
}
