import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import type { EngineName } from '../engine.ts'
import { codePointText } from './code-point-text.ts'

/** Creates the table of what each node counted in each minute, of all endpoints and of busy ones. */
export function trafficMinutes(engine: EngineName): Migration {
  const text = codePointText(engine)
  return {
    async up(db: Kysely<unknown>): Promise<void> {
      await db.schema
        .createTable('traffic_minutes')
        .addColumn('endpoint', text, (column) => column.notNull())
        .addColumn('minute', 'bigint', (column) => column.notNull())
        .addColumn('node', 'text', (column) => column.notNull())
        .addColumn('counts', 'text', (column) => column.notNull())
        .addColumn('open', 'bigint', (column) => column.notNull())
        .addPrimaryKeyConstraint('traffic_minutes_key', ['endpoint', 'minute', 'node'])
        .execute()
      await db.schema
        .createIndex('traffic_minutes_by_minute')
        .on('traffic_minutes')
        .column('minute')
        .execute()
    },
  }
}
