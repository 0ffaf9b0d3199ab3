import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import type { EngineName } from '../engine.ts'
import { codePointText } from './code-point-text.ts'

/** Creates the table of JSON Schemas. */
export function schemas(engine: EngineName): Migration {
  const key = codePointText(engine)
  return {
    async up(db: Kysely<unknown>): Promise<void> {
      await db.schema
        .createTable('schemas')
        .addColumn('database', key, (column) => column.notNull())
        .addColumn('collection', key, (column) => column.notNull())
        .addColumn('tag', 'text', (column) => column.notNull())
        .addColumn('body', 'text', (column) => column.notNull())
        .addPrimaryKeyConstraint('schemas_key', ['database', 'collection'])
        .execute()
    },
  }
}
