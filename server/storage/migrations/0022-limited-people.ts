import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Adds the databases to people that their role is limited to. Existing people have no limit. */
export function limitedPeople(): Migration {
  return {
    async up(db: Kysely<unknown>): Promise<void> {
      await db.schema.alterTable('people').addColumn('databases', 'text').execute()
    },
  }
}
