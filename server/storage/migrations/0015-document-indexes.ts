import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import type { EngineName } from '../engine.ts'
import { codePointText } from './code-point-text.ts'

/**
 * Creates the tables of the indexes of collections and of their entries
 * (docs/decisions/0026-indexes-as-a-table-of-entries.md).
 */
export function documentIndexes(engine: EngineName): Migration {
  const text = codePointText(engine)
  const bytes = engine === 'sqlite' ? sql`blob` : sql`bytea`
  return {
    async up(db: Kysely<unknown>): Promise<void> {
      await db.schema
        .createTable('document_indexes')
        .addColumn('id', 'bigint', (column) => column.primaryKey().notNull())
        .addColumn('database', text, (column) => column.notNull())
        .addColumn('collection', text, (column) => column.notNull())
        .addColumn('name', text, (column) => column.notNull())
        .addColumn('fields', 'text', (column) => column.notNull())
        .addColumn('is_unique', 'integer', (column) => column.notNull())
        .addColumn('state', 'text', (column) => column.notNull())
        .addColumn('cursor', 'text')
        .addColumn('done', 'bigint', (column) => column.notNull())
        .addColumn('total', 'bigint')
        .addColumn('duplicates', 'text')
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .execute()
      await sql`
        create unique index document_indexes_by_name
        on document_indexes (database, collection, name) where state <> 'dropped'`.execute(db)
      await db.schema
        .createTable('index_entries')
        .addColumn('index_id', 'bigint', (column) => column.notNull())
        .addColumn('key', bytes, (column) => column.notNull())
        .addColumn('id', text, (column) => column.notNull())
        .addColumn('sole', bytes)
        .addPrimaryKeyConstraint('index_entries_key', ['index_id', 'key', 'id'])
        .$call((table) => (engine === 'sqlite' ? table.modifyEnd(sql`without rowid`) : table))
        .execute()
      await sql`
        create unique index index_entries_sole
        on index_entries (index_id, sole) where sole is not null`.execute(db)
    },
  }
}
