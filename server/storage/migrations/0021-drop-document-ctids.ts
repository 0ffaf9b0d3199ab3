import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Drops the physical locations of documents from the entries of indexes. */
export function dropDocumentCtids(): Migration {
  return {
    async up(db: Kysely<unknown>): Promise<void> {
      await db.schema.alterTable('index_entries').dropColumn('document_ctid').execute()
    },
  }
}
