import type { NextTurn } from '../concurrency/turns.ts'
import {
  type AuditPage,
  type AuditQuery,
  type AuditRow,
  auditRow,
} from '../contract/audit/audit.ts'
import { parseJson } from '../contract/json/parse-json.ts'
import { limitBytes } from '../storage/changes/limit-bytes.ts'
import { parseColumn } from '../storage/sql/parse-column.ts'
import type { Store } from '../storage/store.ts'
import type { AuditTable } from '../storage/tables.ts'
import { findAuditRows, type SearchBounds } from './find-rows.ts'

/** Maximum size of the rows of a page, bytes: 4 MiB. */
const PAGE_BYTES = 4 * 1024 * 1024

/** Estimated size of a row without its large columns, bytes. */
const ROW_BYTES = 512

/** Reserves memory for the rows of a page, bytes, before they are read. */
export type ReservePage = (bytes: number) => Promise<void> | undefined

/**
 * Returns a page of the audit log, newest first. If the search reads many rows, or the rows are
 * large, the page may be short or empty although a next page exists.
 *
 * @throws Failure `unavailable`; as `reserve`
 */
export async function readAuditPage(
  store: Store,
  query: AuditQuery,
  nextTurn: NextTurn,
  reserve: ReservePage,
  bounds?: SearchBounds,
): Promise<AuditPage> {
  const { found, next } = await findAuditRows(store, query, nextTurn, bounds)
  const fit = limitBytes(found, PAGE_BYTES)
  const page = found.slice(0, fit)
  if (page.length === 0) return { rows: [], next }
  await reserve(page.reduce((sum, { bytes }) => sum + bytes, page.length * ROW_BYTES))
  const seqs = page.map(({ seq }) => seq)
  const rows = await store.db
    .selectFrom('audit')
    .selectAll()
    .where('seq', 'in', seqs)
    .orderBy('seq', 'desc')
    .execute()
  return { rows: rows.map(fromRow), next: fit < found.length ? (seqs.at(-1) ?? null) : next }
}

const fromRow = (row: AuditTable): AuditRow =>
  parseColumn(auditRow, 'audit', {
    seq: row.seq,
    at: new Date(row.at).toISOString(),
    actor: row.actor,
    by: row.by,
    address: row.address,
    action: row.action,
    target: row.target,
    outcome: row.outcome,
    before: parseJson(row.before),
    after: parseJson(row.after),
    change: row.change,
    hash: row.hash,
  })
