import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import type { EngineName } from '../engine.ts'
import { codePointText } from './code-point-text.ts'

/** Creates the table for the policies of endpoints. */
export function policies(engine: EngineName): Migration {
  return {
    async up(db: Kysely<unknown>): Promise<void> {
      await db.schema
        .createTable('policies')
        .addColumn('address', codePointText(engine), (column) => column.primaryKey().notNull())
        .addColumn('policy', 'text')
        .addColumn('policy_revision', 'bigint', (column) => column.notNull())
        .addColumn('trial', 'text')
        .execute()
    },
  }
}
