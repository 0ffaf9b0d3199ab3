import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Adds an index for the check that a database exists, which each document write makes. */
export function databaseIds(): Migration {
  return {
    async up(db: Kysely<unknown>): Promise<void> {
      await db.schema.createIndex('databases_by_id').on('databases').column('id').execute()
    },
  }
}
