import type { AuditPage, AuditQuery, AuditRow } from '../contract/audit.ts'
import type { AuditAction } from '../contract/audit-action.ts'
import { howManyFit } from '../storage/how-many-fit.ts'
import type { Store } from '../storage/open.ts'
import type { AuditTable } from '../storage/tables.ts'
import type { NextTurn } from '../storage/turns.ts'
import { findAuditRows, type SearchBounds } from './find-rows.ts'

/** A page ends earlier where its rows would take more than this together, bytes: 4 MiB. */
const PAGE_BYTES = 4 * 1024 * 1024

/**
 * A page of the audit log, newest first. A page whose search looked at many rows, or whose rows are
 * large, may be short or empty and have a next one.
 *
 * @throws Failure `unavailable`
 */
export async function readAuditPage(
  store: Store,
  query: AuditQuery,
  nextTurn: NextTurn,
  bounds?: SearchBounds,
): Promise<AuditPage> {
  const { found, next } = await findAuditRows(store, query, nextTurn, bounds)
  const fit = howManyFit(found, PAGE_BYTES)
  const seqs = found.slice(0, fit).map(({ seq }) => seq)
  if (seqs.length === 0) return { rows: [], next }
  const rows = await store.db
    .selectFrom('audit')
    .selectAll()
    .where('seq', 'in', seqs)
    .orderBy('seq', 'desc')
    .execute()
  return { rows: rows.map(fromRow), next: fit < found.length ? (seqs.at(-1) ?? null) : next }
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
