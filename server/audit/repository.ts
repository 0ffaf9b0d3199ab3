import { sql } from 'kysely'
import type { AuditPage, AuditQuery, AuditRow } from '../contract/audit.ts'
import { AUDIT_ACTIONS, type AuditAction } from '../contract/audit-action.ts'
import type { Store } from '../storage/open.ts'
import type { AuditTable } from '../storage/tables.ts'

/**
 * A page of the audit log, newest first.
 *
 * @throws Failure `unavailable`
 */
export async function readAuditPage(store: Store, query: AuditQuery): Promise<AuditPage> {
  const { who, what, which, from, to, before, limit = 50 } = query
  const rows = await store.db
    .selectFrom('audit')
    .selectAll()
    .$if(before !== undefined, (rows) => rows.where('seq', '<', before ?? 0))
    .$if(from !== undefined, (rows) => rows.where('at', '>=', Date.parse(from ?? '')))
    .$if(to !== undefined, (rows) => rows.where('at', '<', Date.parse(to ?? '')))
    .$if(what !== undefined, (rows) => rows.where('action', 'in', actionsOf(what ?? '')))
    .$if(which !== undefined, (rows) => rows.where('target', '=', which ?? ''))
    .$if(who !== undefined, (rows) => rows.where(actorBeginsWith(who ?? '')))
    .orderBy('seq', 'desc')
    // One more than asked for tells whether there is a next page.
    .limit(limit + 1)
    .execute()
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return {
    rows: page.map(fromRow),
    next: rows.length > limit && last !== undefined ? last.seq : null,
  }
}

const actionsOf = (what: string): AuditAction[] =>
  AUDIT_ACTIONS.filter((action) => action === what || action.startsWith(`${what}.`))

/** Both sides are folded by the engine, which may know other letters than we do. */
const actorBeginsWith = (text: string) => {
  const folded = sql`lower(cast(${text} as text))`
  return sql<boolean>`substr(lower(actor), 1, length(${folded})) = ${folded}`
}

const fromRow = (row: AuditTable): AuditRow => ({
  seq: row.seq,
  at: new Date(row.at).toISOString(),
  actor: row.actor,
  by: row.by as AuditRow['by'],
  address: row.address,
  action: row.action as AuditAction,
  target: row.target,
  outcome: row.outcome as AuditRow['outcome'],
  before: JSON.parse(row.before),
  after: JSON.parse(row.after),
  hash: row.hash,
})
