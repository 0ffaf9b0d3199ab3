import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Adds the results of imports to jobs. */
export function jobResults(): Migration {
  return {
    async up(db: Kysely<unknown>): Promise<void> {
      await db.schema.alterTable('jobs').addColumn('result', 'text').execute()
    },
  }
}
