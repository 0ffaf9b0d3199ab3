import type { Selectable } from 'kysely'
import * as z from 'zod/mini'
import { nextTurn } from '../concurrency/turns.ts'
import { type AuditPage, auditRow } from '../contract/audit.ts'
import { toIsoTime } from '../contract/iso-time.ts'
import { limitBytes } from '../storage/changes/portions.ts'
import { parseColumn } from '../storage/sql/parse-column.ts'
import type { Store } from '../storage/store.ts'
import type { AuditTable } from '../storage/tables.ts'
import { type AuditSearch, findAuditRows, type SearchBounds } from './find-rows.ts'

/** Maximum size of the rows of a page, bytes: 4 MiB. */
const PAGE_BYTES = 4 * 1024 * 1024

/** Estimated size of a row without its large columns, bytes. */
const ROW_BYTES = 512

/** Reserves memory for the rows of a page, bytes, before they are read. */
export type ReservePage = (bytes: number) => Promise<void> | undefined

/** A page as it is sent: each row is JSON of an `AuditRow`. */
export interface PrintedAuditPage extends Pick<AuditPage, 'next'> {
  readonly rows: readonly string[]
}

/**
 * Returns a page of the audit log, newest first. If the search reads many rows, or the rows are
 * large, the page may be short or empty although a next page exists.
 *
 * @throws Failure `unavailable`; as `reserve`
 */
export async function readAuditPage(
  store: Store,
  search: AuditSearch,
  reserve: ReservePage,
  bounds?: SearchBounds,
): Promise<PrintedAuditPage> {
  const { found, next } = await findAuditRows(store, search, bounds)
  const fit = limitBytes(found, PAGE_BYTES)
  const page = found.slice(0, fit)
  if (page.length === 0) return { rows: [], next }
  await reserve(page.reduce((sum, { bytes }) => sum + bytes, page.length * ROW_BYTES))
  // A page of large rows is read, and then printed, in a turn of its own.
  await nextTurn()
  const seqs = page.map(({ seq }) => seq)
  const rows = await store.db
    .selectFrom('audit')
    .selectAll()
    .where('seq', 'in', seqs)
    .orderBy('seq', 'desc')
    .execute()
  const names = await readNames(store, rows)
  await nextTurn()
  return {
    rows: rows.map((row) => printRow(row, names)),
    next: fit < found.length ? (seqs.at(-1) ?? null) : next,
  }
}

/** Returns the names of the people who are actors or targets of rows, by username and by id. */
async function readNames(
  { db }: Store,
  rows: readonly Pick<AuditTable, 'actor' | 'target'>[],
): Promise<ReadonlyMap<string, string | null>> {
  const named = [...new Set(rows.flatMap(({ actor, target }) => [actor, target]))]
  const people = await db
    .selectFrom('people')
    .select(['id', 'username', 'name'])
    .where((eb) => eb.or([eb('username', 'in', named), eb('id', 'in', named)]))
    .execute()
  return new Map(
    people.flatMap(({ id, username, name }) => [
      [username, name],
      [id, name ?? username],
    ]),
  )
}

const rowWithoutValues = z.omit(auditRow, { before: true, after: true })

/** Prints a row. Its values are JSON already, so they are copied and not parsed. */
function printRow(row: Selectable<AuditTable>, names: ReadonlyMap<string, string | null>): string {
  const columns = {
    ...row,
    at: toIsoTime(row.at),
    actorName: names.get(row.actor) ?? null,
    targetName: names.get(row.target) ?? null,
  }
  const { change, hash, ...first } = parseColumn(rowWithoutValues, 'audit', columns)
  const [head, tail] = [JSON.stringify(first), JSON.stringify({ change, hash })]
  return `${head.slice(0, -1)},"before":${row.before},"after":${row.after},${tail.slice(1)}`
}
