import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Expired failures are found without reading the others. */
export function failuresByEnd(): Migration {
  return {
    async up(db: Kysely<unknown>): Promise<void> {
      await db.schema.createIndex('failures_by_end').on('failures').column('expires_at').execute()
    },
  }
}
