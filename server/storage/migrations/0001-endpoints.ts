import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import type { EngineName } from '../engine.ts'
import { codePointText } from './code-point-text.ts'

/** Creates the tables for endpoints and databases, and the revision counter. */
export function endpoints(engine: EngineName): Migration {
  const text = codePointText(engine)
  return {
    async up(db: Kysely<unknown>): Promise<void> {
      await db.schema
        .createTable('endpoints')
        .addColumn('address', text, (column) => column.primaryKey().notNull())
        .addColumn('databases', 'text', (column) => column.notNull())
        .addColumn('revision', 'bigint', (column) => column.notNull())
        .execute()
      await db.schema
        .createTable('databases')
        .addColumn('name', text, (column) => column.primaryKey().notNull())
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .execute()
      await db.schema
        .createTable('counters')
        .addColumn('name', 'text', (column) => column.primaryKey().notNull())
        .addColumn('value', 'bigint', (column) => column.notNull())
        .execute()
      await sql`insert into counters (name, value) values ('revision', 0)`.execute(db)
    },
  }
}
