import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import type { Tables } from '../tables.ts'

/**
 * Discards listings, which stored the ids that they found. New listings store a cursor instead. A
 * listing can be repeated.
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
