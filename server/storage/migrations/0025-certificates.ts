import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import type { EngineName } from '../engine.ts'
import { codePointText } from './code-point-text.ts'

/** Creates the table for certificates of endpoints. */
export function certificates(engine: EngineName): Migration {
  return {
    async up(db: Kysely<unknown>): Promise<void> {
      await db.schema
        .createTable('certificates')
        .addColumn('name', codePointText(engine), (column) => column.primaryKey().notNull())
        .addColumn('kind', 'text', (column) => column.notNull())
        .addColumn('revision', 'bigint', (column) => column.notNull())
        .addColumn('settings', 'text', (column) => column.notNull())
        .addColumn('certificate', 'text')
        .addColumn('info', 'text')
        .addColumn('secret', 'text')
        .execute()
    },
  }
}
