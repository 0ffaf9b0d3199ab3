import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Adds an index to find expired failures without a scan of the table. */
export function failuresByEnd(): Migration {
  return {
    async up(db: Kysely<unknown>): Promise<void> {
      await db.schema.createIndex('failures_by_end').on('failures').column('expires_at').execute()
    },
  }
}
