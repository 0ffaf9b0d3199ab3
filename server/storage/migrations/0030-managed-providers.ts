import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import type { EngineName } from '../engine.ts'
import { codePointText } from './code-point-text.ts'

/** Creates the tables of managed providers, their tests and invitations. */
export function managedProviders(engine: EngineName): Migration {
  return {
    async up(db: Kysely<unknown>): Promise<void> {
      await db.schema
        .createTable('providers')
        .addColumn('name', codePointText(engine), (column) => column.primaryKey().notNull())
        .addColumn('revision', 'bigint', (column) => column.notNull())
        .addColumn('settings', 'text', (column) => column.notNull())
        .addColumn('secret', 'text', (column) => column.notNull())
        .execute()
      await db.schema
        .createTable('provider_tests')
        .addColumn('id', 'text', (column) => column.primaryKey().notNull())
        .addColumn('provider', 'text', (column) => column.notNull())
        .addColumn('state', 'text', (column) => column.notNull())
        .addColumn('steps', 'text', (column) => column.notNull())
        .addColumn('expires_at', 'bigint', (column) => column.notNull())
        .execute()
      await db.schema
        .createTable('invitations')
        .addColumn('id', 'text', (column) => column.primaryKey().notNull())
        .addColumn('hash', 'text', (column) => column.notNull().unique())
        .addColumn('provider', 'text', (column) => column.notNull())
        .addColumn('role', 'text', (column) => column.notNull())
        .addColumn('databases', 'text')
        .addColumn('creator_id', 'text', (column) => column.notNull().references('people.id'))
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addColumn('expires_at', 'bigint', (column) => column.notNull())
        .addColumn('used_at', 'bigint')
        .execute()
      await db.schema
        .alterTable('sign_ins')
        .addColumn('provider_revision', 'bigint', (column) => column.notNull().defaultTo(0))
        .execute()
      for (const column of ['invitation', 'test']) {
        await db.schema.alterTable('sign_ins').addColumn(column, 'text').execute()
      }
    },
  }
}
