import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Adds what certificates of an ACME directory need: their orders and challenges. */
export function acme(): Migration {
  return {
    async up(db: Kysely<unknown>): Promise<void> {
      await db.schema.alterTable('certificates').addColumn('acme', 'text').execute()
      await db.schema
        .createTable('acme_challenges')
        .addColumn('token', 'text', (column) => column.primaryKey().notNull())
        .addColumn('certificate', 'text', (column) => column.notNull())
        .addColumn('name', 'text', (column) => column.notNull())
        .addColumn('kind', 'text', (column) => column.notNull())
        .addColumn('answer', 'text', (column) => column.notNull())
        .addColumn('expires_at', 'bigint', (column) => column.notNull())
        .execute()
    },
  }
}
