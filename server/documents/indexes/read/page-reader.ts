import { sql } from 'kysely'
import { invariant } from '../../../contract/invariant.ts'
import type { CollectionRef } from '../../../storage/document-ref.ts'
import { limitRows } from '../../../storage/limit-rows.ts'
import type { Store } from '../../../storage/store.ts'
import type { IndexDefinition } from '../definition.ts'
import { INLINE_BYTES, type IndexPart } from './index-reader.ts'

/** The documents of the first entries of a part, concatenated by the database. */
export interface IndexedPage {
  /** Whether the index can serve queries. */
  readonly isReady: boolean
  /** Number of entries in the part; one more than the limit if there are more. */
  readonly scanned: number
  /** Whether the other part has entries. */
  readonly hasOther: boolean
  readonly returned: number
  /** Length of the longest key. */
  readonly longestKey: number
  /** The documents as JSON, with commas between them. */
  readonly json: string
  /** The ids and tags of the documents, each on a line. */
  readonly states: string
  /** Size of the last document, bytes. */
  readonly lastBytes: number
}

/** Reads pages by an index. */
export interface PageReader {
  /**
   * Whether unique indexes may contain entries of values that documents do not have yet
   * (`reserved-entries.ts`).
   */
  readonly mayReserve: boolean
  /**
   * Returns the documents of the first entries of a part; a promise only if the store is
   * asynchronous. Returns undefined if a document is large.
   *
   * @param other a part that is only checked for entries.
   */
  page(
    where: CollectionRef,
    index: IndexDefinition,
    part: IndexPart,
    other: IndexPart | undefined,
    limit: number,
  ): IndexedPage | undefined | Promise<IndexedPage | undefined>
}

/** The row of a statement that reads a page. */
export interface PageRow {
  readonly is_ready: number
  readonly scanned: number
  readonly others: number
  readonly entries: number
  readonly found: number
  readonly largest: number | null
  readonly longest_key: number | null
  readonly json: string | null
  readonly states: string | null
  readonly sizes: string | null
}

/** Returns the reader of SQLite. One statement returns a page as one row, in one snapshot. */
export function createPageReader({
  db,
  prepareRead,
}: Pick<Store, 'db' | 'prepareRead'>): PageReader {
  const isWithin = sql`index_id = ${0} and (key, id) > (${Buffer.of()}, ${''}) and key < ${Buffer.of()}`
  const isInCollection = sql`documents.database = ${''} and documents.collection = ${''}
    and documents.id = entry.id`
  const inKeyOrder = sql`order by key, id`
  // SQLite aggregates in the order in which it reads the entries.
  const read = prepareRead(
    sql<PageRow>`
      select
        cast((select count(*) from document_indexes
          where document_indexes.id = ${0} and state = 'ready') as integer) as is_ready,
        cast((select count(*) from (
          select 1 from index_entries where ${isWithin} ${inKeyOrder} limit ${limitRows(0)}) as counted
        ) as integer) as scanned,
        cast((select count(*) from (
          select 1 from index_entries where ${isWithin} ${inKeyOrder} limit 1) as others_found
        ) as integer) as others,
        cast(count(*) as integer) as entries,
        cast(count(tag) as integer) as found,
        max(octet_length(entry.key)) as longest_key,
        max(octet_length(body)) as largest,
        string_agg(case when octet_length(body) <= cast(${0} as integer) then body end, ',')
          as json,
        string_agg(entry.id || '\n' || tag, '\n') as states,
        string_agg(cast(octet_length(body) as text), ',') as sizes
      from (
        select key, id from index_entries where ${isWithin} ${inKeyOrder} limit ${limitRows(0)}
      ) as entry left join documents on ${isInCollection}`.compile(db),
  )
  return {
    mayReserve: true,
    page({ database, collection }, { id }, part, other, limit) {
      const maxBytes = Math.floor(INLINE_BYTES / limit)
      const bounds = [id, part.key, part.id, part.upper]
      const { key, id: after, upper } = other ?? NO_PART
      const reading = read(
        ...[id, ...bounds, limit + 1, id, key, after, upper, maxBytes],
        ...[...bounds, limit, database, collection],
      )
      return reading instanceof Promise
        ? reading.then(({ rows }) => toPage(rows[0], maxBytes))
        : toPage(reading.rows[0], maxBytes)
    },
  }
}

/** A part without entries. */
export const NO_PART: IndexPart = { key: Buffer.of(), id: '', upper: Buffer.of() }

/** Returns the page of a row; undefined if a document is larger than `maxBytes` bytes. */
export function toPage(row: PageRow | undefined, maxBytes: number): IndexedPage | undefined {
  invariant(row, 'an aggregate has a row')
  const { json, states, sizes, largest } = row
  if (row.found < row.entries || (largest ?? 0) > maxBytes) return undefined
  return {
    isReady: row.is_ready > 0,
    scanned: row.scanned,
    hasOther: row.others > 0,
    returned: row.entries,
    longestKey: row.longest_key ?? 0,
    json: json ?? '',
    states: states ?? '',
    lastBytes: Number(sizes?.slice(sizes.lastIndexOf(',') + 1)),
  }
}
