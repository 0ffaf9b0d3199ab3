import { createHash } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

interface Running {
  readonly id: string
  readonly made: number
  readonly left: number
  readonly total: number
}

/**
 * Drops the tables of bulk changes, which requests now make while they are answered. Running ones
 * are cancelled: the changes that they have made stay, and an audit row tells how many were made and left.
 */
export function endBulkChanges(): Migration {
  return {
    async up(db: Kysely<unknown>): Promise<void> {
      const { rows } = await sql<Running>`
        select id, made, total - made - unchanged - failed as "left", total
        from endpoint_changes where state = 'running' order by created_at`.execute(db)
      for (const row of rows) await recordCancellation(db, row)
      await sql`drop table endpoint_change_outcomes`.execute(db)
      await sql`drop table endpoint_changes`.execute(db)
    },
  }
}

/** Appends a row to the audit log, in the released format of its hash. */
async function recordCancellation(db: Kysely<unknown>, { id, made, left, total }: Running) {
  const { rows } = await sql<{ seq: number; hash: string }>`
    update audit_head set seq = seq + 1 where id = 1 returning seq, hash`.execute(db)
  for (const { seq, hash: previous } of rows) {
    const at = Date.now()
    const after = JSON.stringify({ made, changes: total, left })
    const content = ['upgrade', 'system', null, 'endpoint.change-cancel', id, 'done', 'null', after]
    const hash = createHash('sha256')
      .update(previous)
      .update(JSON.stringify([`${seq}`, `${at}`, ...content, id]))
      .digest('hex')
    await sql`
      insert into audit
        (seq, at, actor, "by", address, action, target, outcome, "before", "after", change, hash)
      values (${sql.join([seq, at, ...content, id, hash])})`.execute(db)
    await sql`update audit_head set hash = ${hash} where id = 1`.execute(db)
  }
}
