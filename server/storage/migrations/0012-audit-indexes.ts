import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import type { EngineName } from '../engine.ts'

/**
 * Adds an index for each filter of the audit log, in the order of its rows. Texts are truncated,
 * because index entries of PostgreSQL are limited to 2,704 bytes.
 */
export function auditIndexes(engine: EngineName): Migration {
  const actor = sql`substr(lower(actor), 1, 256)`
  const indexes: Readonly<Record<string, RawBuilder<unknown>>> = {
    audit_by_time: sql`at, seq`,
    audit_by_action: sql`action, seq`,
    audit_by_target: sql`substr(target, 1, 512), seq`,
    audit_by_actor: engine === 'sqlite' ? sql`${actor}, seq` : sql`(${actor} collate "C"), seq`,
  }
  return {
    async up(db: Kysely<unknown>): Promise<void> {
      for (const [name, columns] of Object.entries(indexes)) {
        await sql`create index ${sql.ref(name)} on audit (${columns})`.execute(db)
      }
    },
  }
}
