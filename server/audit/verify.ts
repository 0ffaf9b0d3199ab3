import { sql } from 'kysely'
import type { Store } from '../storage/open.ts'
import { type HashedColumns, rowHash } from './row-hash.ts'

/** A row that somebody has seen in the log, by its hash and, where it is known, its number. */
export interface KnownRow {
  readonly seq: number | undefined
  readonly hash: string
}

/** What {@link verifyChain} found: all rows fit, up to the last one; or the first that does not. */
export type Verdict =
  | { readonly fits: true; readonly seq: number; readonly hash: string }
  | { readonly fits: false; readonly seq: string; readonly reason: string }

/** How many rows are looked at in one go. */
const PAGE = 1_000

/**
 * Walks the whole log, also while it is being written, and finds the first row that was edited,
 * deleted, inserted or moved. Rows cut off its end are found by the head of the log; whoever cut
 * that back too, or wrote the log anew, is found by a row that was `known` before.
 *
 * @throws Failure `unavailable`
 */
export async function verifyChain(store: Store, known?: KnownRow): Promise<Verdict> {
  let seq = 0
  let hash = ''
  let met = known === undefined || known.seq === 0
  for (;;) {
    // Before the rows: what the head counts is there when they are read, whatever comes after.
    const head = await readHead(store)
    const rows = await readRows(store, seq)
    if (rows.length === 0) {
      return judgeEnd(seq, hash, head) ?? (met ? { fits: true, seq, hash } : missed(seq, known))
    }
    for (const row of rows) {
      const fault = judgeRow(row, seq, hash)
      if (fault !== undefined) return fault
      seq++
      hash = row.hash
      const isKnown = known?.hash === hash
      if (known?.seq === seq && !isKnown) {
        return misfit(seq, `Row ${seq} has another hash than the one given: the log was rewritten.`)
      }
      if (isKnown && (known.seq ?? seq) === seq) met = true
    }
  }
}

const misfit = (seq: number | string, reason: string): Verdict => ({
  fits: false,
  seq: String(seq),
  reason,
})

type Row = HashedColumns & { readonly hash: string }

/** Whether a row follows the last one that fits. */
function judgeRow(row: Row, last: number, hash: string): Verdict | undefined {
  const next = String(last + 1)
  if (row.seq !== next) {
    return Number(row.seq) > last
      ? misfit(next, `Row ${next} is missing: row ${row.seq} follows row ${last}.`)
      : misfit(row.seq, `Row ${row.seq} was inserted: rows are numbered from 1.`)
  }
  if (row.hash === rowHash(hash, row)) return undefined
  return misfit(next, `Row ${next} does not fit: it, or the row before it, was changed.`)
}

/** Whether the log ends where its head says. */
function judgeEnd(
  last: number,
  hash: string,
  head: { readonly seq: string; readonly hash: string } | undefined,
): Verdict | undefined {
  const next = last + 1
  if (head === undefined) return misfit(next, `Row ${next} cannot be known: the head is missing.`)
  if (Number(head.seq) > last) {
    return misfit(next, `Row ${next} is missing: the log was cut off, ${head.seq} were written.`)
  }
  if (Number(head.seq) < last) {
    const first = Number(head.seq) + 1
    return misfit(first, `Row ${first} was inserted: ${head.seq} were written.`)
  }
  if (head.hash === hash) return undefined
  return misfit(last, `Row ${last} does not fit: it is not the one that was written last.`)
}

function missed(last: number, known: KnownRow | undefined): Verdict {
  const what = known?.seq === undefined ? 'the row with the hash given' : `row ${known.seq}`
  return misfit(last + 1, `Row ${last + 1} is missing: ${what} is not in the log.`)
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
      .select(['actor', 'by', 'address', 'action', 'target', 'outcome', 'before', 'after', 'hash'])
      // Without a bound at first: a row below number 1 must be seen too.
      .$if(after > 0, (query) => query.where('audit.seq', '>', after))
      .orderBy('audit.seq')
      .limit(PAGE)
      .execute()
  )
}

/** As text: a number beyond 2^53, which only a forger writes, could not be read as one. */
const asText = (column: 'seq' | 'at') => sql<string>`cast(${sql.ref(column)} as text)`
