import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import type { EngineName } from '../engine.ts'

/** Adds the name of the caller's token to audit rows, and indexes for tokens and rejected changes. */
export function auditTokens(engine: EngineName): Migration {
  const token = sql`substr(lower(token), 1, 256)`
  return {
    async up(db: Kysely<unknown>): Promise<void> {
      await sql`alter table audit add column token text`.execute(db)
      await sql`
        create index audit_by_token
        on audit (${engine === 'sqlite' ? token : sql`(${token} collate "C")`}, seq)
        where token is not null`.execute(db)
      await sql`create index audit_refused on audit (seq) where outcome = 'refused'`.execute(db)
    },
  }
}
