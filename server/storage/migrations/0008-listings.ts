import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import type { Tables } from '../tables.ts'

/**
 * Listings keep a cursor instead of the ids that they found. Those that kept ids are deleted with
 * them: a listing can be repeated.
 */
export function listings(): Migration {
  return {
    async up(db: Kysely<Tables>): Promise<void> {
      await db
        .updateTable('jobs')
        .set({ state: 'discarded', clean: 0 })
        .where('kind', '=', 'list')
        .execute()
      await db.schema
        .createIndex('jobs_by_database')
        .on('jobs')
        .columns(['database', 'kind', 'created_at'])
        .execute()
    },
  }
}
