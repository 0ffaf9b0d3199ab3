import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import type { EngineName } from '../engine.ts'
import { codePointText } from './code-point-text.ts'

/**
 * Creates the table of documents, and adds an id to each database. Ids are never reused, so
 * documents of a dropped database cannot reappear in a new one of the same name.
 */
export function documents(engine: EngineName): Migration {
  const key = codePointText(engine)
  return {
    async up(db: Kysely<unknown>): Promise<void> {
      await db.schema
        .alterTable('databases')
        .addColumn('id', 'text', (column) => column.notNull().defaultTo(''))
        .execute()
      await sql`update databases set id = name || '-' || created_at`.execute(db)
      await db.schema
        .createTable('documents')
        .addColumn('database', key, (column) => column.notNull())
        .addColumn('collection', key, (column) => column.notNull())
        .addColumn('id', key, (column) => column.notNull())
        .addColumn('tag', 'text', (column) => column.notNull())
        .addColumn('body', 'text', (column) => column.notNull())
        .addPrimaryKeyConstraint('documents_key', ['database', 'collection', 'id'])
        .execute()
    },
  }
}
