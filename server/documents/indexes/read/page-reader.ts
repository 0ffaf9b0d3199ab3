import { sql } from 'kysely'
import { invariant } from '../../../contract/invariant.ts'
import type { CollectionRef } from '../../../storage/document-ref.ts'
import { limitRows } from '../../../storage/sql/parameters.ts'
import type { Store } from '../../../storage/store.ts'
import type { IndexDefinition } from '../definition.ts'
import { INLINE_BYTES, type IndexRange } from './index-reader.ts'

/** The documents of the first entries of a range. */
export interface IndexedPage {
  /** Whether the index can serve queries. */
  readonly isReady: boolean
  /** Number of entries in the range; one more than the limit if there are more. */
  readonly scanned: number
  /** Whether the other range has entries. */
  readonly hasOther: boolean
  /** Length of the longest key. */
  readonly longestKey: number
  /** The documents as JSON. */
  readonly bodies: readonly string[]
  /** The tags of the documents, each on a line. */
  readonly tags: string
}

/** Reads pages by an index. */
export interface PageReader {
  /**
   * Returns the documents of the first entries of a range; a promise only if the store is
   * asynchronous. Returns undefined if a document is large.
   *
   * @param other a range that is only checked for entries.
   */
  page(
    where: CollectionRef,
    index: IndexDefinition,
    range: IndexRange,
    other: IndexRange | undefined,
    limit: number,
  ): IndexedPage | undefined | Promise<IndexedPage | undefined>
}

/** Separates documents. It cannot occur in JSON. */
export const SEPARATOR = '\u001e'

/**
 * The row of a statement that reads a page: the documents that are small, with a {@link SEPARATOR}
 * between them, and the tags of all, each on a line.
 */
export interface PageRow {
  readonly is_ready: number
  readonly scanned: number
  readonly others: number
  readonly longest_key: number | null
  readonly bodies: string | null
  readonly tags: string | null
}

/** Returns the reader of SQLite. One statement returns a page as one row, in one snapshot. */
export function createPageReader({
  db,
  prepareRead,
}: Pick<Store, 'db' | 'prepareRead'>): PageReader {
  const isWithin = sql`index_id = ${0} and (key, id) > (${Buffer.of()}, ${''}) and key < ${Buffer.of()}`
  const isInCollection = sql`documents.database = ${''} and documents.collection = ${''}
    and documents.id = entry.id`
  // SQLite aggregates in the order in which it reads the entries.
  const read = prepareRead(
    sql<PageRow>`
        select
          cast((select count(*) from document_indexes
            where document_indexes.id = ${0} and state = 'ready') as integer) as is_ready,
          cast((select count(*) from (
            select 1 from index_entries where ${isWithin} order by key, id limit 1) as others_found
          ) as integer) as others,
          count(*) as scanned,
          max(octet_length(entry.key)) as longest_key,
          string_agg(case when octet_length(body) <= cast(${0} as integer) then body end,
            ${sql.lit(SEPARATOR)}) as bodies,
          string_agg(tag, '\n') as tags
        from (
          select key, id from index_entries where ${isWithin} order by key, id limit ${limitRows(0)}
        ) as entry left join documents on ${isInCollection}`.compile(db),
  )
  return {
    page({ database, collection }, { id }, range, other, limit) {
      const maxBytes = Math.floor(INLINE_BYTES / (limit + 1))
      const boundsOf = ({ key, id: after, upper }: IndexRange) => [id, key, after, upper]
      const reading = read(
        ...[id, ...boundsOf(other ?? NO_ENTRIES), maxBytes],
        ...[...boundsOf(range), limit + 1, database, collection],
      )
      const accept = ({ rows: [row] }: { readonly rows: readonly PageRow[] }) => {
        invariant(row, 'an aggregate has a row')
        return withoutMore(toPage(row, row.scanned), limit)
      }
      return reading instanceof Promise ? reading.then(accept) : accept(reading)
    },
  }
}

/** A range without entries. */
export const NO_ENTRIES: IndexRange = { key: Buffer.of(), id: '', upper: Buffer.of() }

/**
 * Returns the page of a row; undefined if a document was not found or is large.
 *
 * @param documents number of documents that the row must have.
 */
export function toPage(row: PageRow, documents: number): IndexedPage | undefined {
  const bodies = row.bodies?.split(SEPARATOR) ?? []
  if (bodies.length < documents) return undefined
  return {
    isReady: row.is_ready > 0,
    scanned: row.scanned,
    hasOther: row.others > 0,
    longestKey: row.longest_key ?? 0,
    bodies,
    tags: row.tags ?? '',
  }
}

/** Removes the document after the page, if there is one. */
function withoutMore(page: IndexedPage | undefined, limit: number): IndexedPage | undefined {
  if (page === undefined || page.scanned <= limit) return page
  const { bodies, tags } = page
  return { ...page, bodies: bodies.slice(0, -1), tags: tags.slice(0, tags.lastIndexOf('\n')) }
}
