import { sql } from 'kysely'
import type { Store } from '../storage/store.ts'
import { type HashedColumns, rowHash } from './record.ts'

/** A row noted earlier: its hash and, if known, its sequence number. */
export interface KnownRow {
  readonly seq: number | undefined
  readonly hash: string
}

/**
 * Result of {@link verifyChain}: the last row of an intact log, or the first row that does not
 * match.
 */
export type Verdict =
  | { readonly intact: true; readonly seq: number; readonly hash: string }
  | { readonly intact: false; readonly seq: string; readonly reason: string }

/** Number of rows per query. */
const PAGE = 1_000

/**
 * Verifies the whole log and returns the first row that was edited, deleted, inserted or moved. The
 * log may be written to during the check. Rows deleted from the end are detected through the head of the
 * log. If the head was changed too, or the whole log was rewritten, only a `known` row reveals it.
 *
 * @throws Failure `unavailable`
 */
export async function verifyChain(store: Store, known?: KnownRow): Promise<Verdict> {
  let seq = 0
  let hash = ''
  let met = known === undefined || known.seq === 0
  for (;;) {
    // Read the head before the rows: all rows that it counts then exist when the rows are read.
    const head = await readHead(store)
    const rows = await readRows(store, seq)
    if (rows.length === 0) {
      return (
        checkEnd(seq, hash, head) ?? (met ? { intact: true, seq, hash } : missingRows(seq, known))
      )
    }
    for (const row of rows) {
      const error = checkRow(row, seq, hash)
      if (error !== undefined) return error
      seq++
      hash = row.hash
      const isKnown = known?.hash === hash
      if (known?.seq === seq && !isKnown) {
        return mismatch(seq, `Row ${seq} does not have the given hash: the log was rewritten.`)
      }
      if (isKnown && (known.seq ?? seq) === seq) met = true
    }
  }
}

const mismatch = (seq: number | string, reason: string): Verdict => ({
  intact: false,
  seq: String(seq),
  reason,
})

type Row = HashedColumns & { readonly hash: string }

/** Returns the error of a row that does not follow the last verified row. */
function checkRow(row: Row, last: number, hash: string): Verdict | undefined {
  const next = String(last + 1)
  if (row.seq !== next) {
    return Number(row.seq) > last
      ? mismatch(next, `Row ${next} is missing: row ${row.seq} follows row ${last}.`)
      : mismatch(row.seq, `Row ${row.seq} was inserted: rows are numbered from 1.`)
  }
  if (row.hash === rowHash(hash, row)) return undefined
  return mismatch(
    next,
    `The hash of row ${next} does not match: it, or the row before it, was changed.`,
  )
}

/** Returns the error of a log that does not end at its head. */
function checkEnd(
  last: number,
  hash: string,
  head: { readonly seq: string; readonly hash: string } | undefined,
): Verdict | undefined {
  const next = last + 1
  if (head === undefined)
    return mismatch(next, `Row ${next} cannot be verified: the head is missing.`)
  if (Number(head.seq) > last) {
    return mismatch(
      next,
      `Row ${next} is missing: the log was truncated; ${head.seq} rows were written.`,
    )
  }
  if (Number(head.seq) < last) {
    const first = Number(head.seq) + 1
    return mismatch(first, `Row ${first} was inserted: ${head.seq} rows were written.`)
  }
  if (head.hash === hash) return undefined
  return mismatch(
    last,
    `The hash of row ${last} does not match: it is not the row that was written last.`,
  )
}

function missingRows(last: number, known: KnownRow | undefined): Verdict {
  const what = known?.seq === undefined ? 'the row with the given hash' : `row ${known.seq}`
  return mismatch(last + 1, `Row ${last + 1} is missing: ${what} is not in the log.`)
}

const readHead = (store: Store) =>
  store.db
    .selectFrom('audit_head')
    .select([asText('seq').as('seq'), 'hash'])
    .where('id', '=', 1)
    .executeTakeFirst()

function readRows(store: Store, after: number): Promise<Row[]> {
  return (
    store.db
      .selectFrom('audit')
      .select([asText('seq').as('seq'), asText('at').as('at')])
      .select(['actor', 'by', 'address', 'action', 'target', 'outcome', 'before', 'after'])
      .select(['change', 'token', 'hash'])
      // The first query has no lower bound, so that it finds rows with a number below 1.
      .$if(after > 0, (query) => query.where('audit.seq', '>', after))
      .orderBy('audit.seq')
      .limit(PAGE)
      .execute()
  )
}

/** Cast to text: a forged number beyond 2^53 cannot be read as a JavaScript number. */
const asText = (column: 'seq' | 'at') => sql<string>`cast(${sql.ref(column)} as text)`
