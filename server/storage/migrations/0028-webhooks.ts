import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import type { EngineName } from '../engine.ts'
import { codePointText } from './code-point-text.ts'

/** Creates the tables of webhooks, what each has delivered of a collection, and its deliveries. */
export function webhooks(engine: EngineName): Migration {
  const text = codePointText(engine)
  return {
    async up(db: Kysely<unknown>): Promise<void> {
      await db.schema
        .createTable('webhooks')
        .addColumn('id', 'text', (column) => column.primaryKey().notNull())
        .addColumn('name', text, (column) => column.notNull().unique())
        .addColumn('database', text, (column) => column.notNull())
        .addColumn('url', 'text', (column) => column.notNull())
        .addColumn('filter', 'text', (column) => column.notNull())
        .addColumn('secret', 'text')
        .addColumn('previous_secret', 'text')
        .addColumn('previous_until', 'bigint')
        .addColumn('paused', 'bigint', (column) => column.notNull())
        .addColumn('reason', 'text')
        .addColumn('failing_since', 'bigint')
        .addColumn('attempts', 'bigint', (column) => column.notNull())
        .addColumn('retry_at', 'bigint', (column) => column.notNull())
        .addColumn('last_response', 'text')
        .addColumn('creator', 'text', (column) => column.notNull())
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addColumn('revision', 'bigint', (column) => column.notNull())
        .execute()
      await db.schema
        .createTable('webhook_positions')
        .addColumn('webhook', 'text', (column) =>
          column.notNull().references('webhooks.id').onDelete('cascade'),
        )
        .addColumn('collection', text, (column) => column.notNull())
        .addColumn('epoch', 'text', (column) => column.notNull())
        .addColumn('number', 'bigint', (column) => column.notNull())
        .addColumn('pending', 'bigint')
        .addColumn('pending_at', 'bigint')
        .addPrimaryKeyConstraint('webhook_positions_key', ['webhook', 'collection'])
        .execute()
      await db.schema
        .createTable('webhook_deliveries')
        .addColumn('id', 'text', (column) => column.primaryKey().notNull())
        .addColumn('webhook', 'text', (column) =>
          column.notNull().references('webhooks.id').onDelete('cascade'),
        )
        .addColumn('at', 'bigint', (column) => column.notNull())
        .addColumn('collection', text)
        .addColumn('epoch', 'text', (column) => column.notNull())
        .addColumn('after', 'bigint', (column) => column.notNull())
        .addColumn('upto', 'bigint', (column) => column.notNull())
        .addColumn('attempts', 'bigint', (column) => column.notNull())
        .addColumn('request', 'text', (column) => column.notNull())
        .addColumn('outcome', 'text', (column) => column.notNull())
        .execute()
      await db.schema
        .createIndex('webhook_deliveries_by_time')
        .on('webhook_deliveries')
        .columns(['webhook', 'at'])
        .execute()
    },
  }
}
