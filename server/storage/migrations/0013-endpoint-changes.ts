import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import type { EngineName } from '../engine.ts'

/**
 * Creates the tables for bulk changes of endpoints and their outcomes, and adds a column to the
 * audit log that refers to the bulk change of an entry.
 */
export function endpointChanges(engine: EngineName): Migration {
  return {
    async up(db: Kysely<unknown>): Promise<void> {
      await db.schema
        .createTable('endpoint_changes')
        .addColumn('id', 'text', (column) => column.primaryKey().notNull())
        .addColumn('state', 'text', (column) => column.notNull())
        .addColumn('actor', 'text', (column) => column.notNull())
        .addColumn('person', 'text', (column) => column.notNull())
        .addColumn('token', 'text')
        .addColumn('via', 'text', (column) => column.notNull())
        .addColumn('keep_on_failure', 'integer', (column) => column.notNull())
        .addColumn('changes', 'text', (column) => column.notNull())
        .addColumn('total', 'integer', (column) => column.notNull())
        .addColumn('removals', 'integer', (column) => column.notNull())
        .addColumn('made', 'integer', (column) => column.notNull())
        .addColumn('unchanged', 'integer', (column) => column.notNull())
        .addColumn('failed', 'integer', (column) => column.notNull())
        .addColumn('undo_of', 'text')
        .addColumn('undone_by', 'text')
        .addColumn('claimed_by', 'text', (column) => column.notNull())
        .addColumn('claimed_until', 'bigint', (column) => column.notNull())
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addColumn('ended_at', 'bigint')
        .execute()
      await db.schema
        .createIndex('endpoint_changes_by_time')
        .on('endpoint_changes')
        .column('created_at')
        .execute()
      await db.schema
        .createTable('endpoint_change_outcomes')
        .addColumn('change', 'text', (column) => column.notNull())
        .addColumn('at', 'integer', (column) => column.notNull())
        .addColumn('state', 'text', (column) => column.notNull())
        .addColumn('before', 'text')
        .addColumn('revision', 'bigint')
        .addColumn('failure', 'text')
        .addPrimaryKeyConstraint('endpoint_change_outcomes_key', ['change', 'at'])
        .execute()
      await db.schema.alterTable('audit').addColumn('change', 'text').execute()
      await sql`create index audit_by_change on audit (change, seq) where change is not null`.execute(
        db,
      )
      if (engine === 'sqlite') return
      await sql`
        create trigger endpoint_changes_notice after insert or update on endpoint_changes
        for each statement execute function gatehouse_notice('endpoint-changes')`.execute(db)
    },
  }
}
