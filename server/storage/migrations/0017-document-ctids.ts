import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import type { EngineName } from '../engine.ts'

/**
 * Adds the physical locations of documents to the entries of indexes
 * (docs/decisions/0033-locations-of-documents-in-indexes.md). Existing entries, and all entries on
 * SQLite, have none.
 */
export function documentCtids(engine: EngineName): Migration {
  return {
    async up(db: Kysely<unknown>): Promise<void> {
      await db.schema
        .alterTable('index_entries')
        .addColumn('document_ctid', engine === 'sqlite' ? 'text' : sql`tid`)
        .execute()
    },
  }
}
