import { sql } from 'kysely'
import { PAGE } from '../../contract/document.ts'
import type { CollectionRef } from '../../storage/document-ref.ts'
import { beginOf, ID_ORDERS, type IdOrder, type IdRange } from '../../storage/sql/id-range.ts'
import type { Store } from '../../storage/store.ts'
import type { IndexedDocument } from '../indexes/read/index-reader.ts'

/** Maximum number of documents: one more than a page has, to detect the next page. */
const MAX_DOCUMENTS = PAGE.default + 1

/** Maximum size of a document, bytes: a page has at most 256 KiB. */
const MAX_BYTES = Math.floor((256 * 1024) / MAX_DOCUMENTS)

/** Maximum number of documents that one statement returns, for several pages. */
const MAX_BATCH_DOCUMENTS = 8 * MAX_DOCUMENTS

/**
 * Returns the first documents of a range without a last id, at most `limit`; undefined if there may
 * be more than {@link MAX_DOCUMENTS}, or if one is larger than {@link MAX_BYTES}.
 */
export type ReadSmallPage = (
  where: CollectionRef,
  range: Omit<IdRange, 'last'>,
  limit: number,
) => Promise<readonly IndexedDocument[] | undefined>

/**
 * Returns a function that reads the documents of a page together with their sizes. It saves
 * PostgreSQL a statement; on SQLite, it always returns undefined.
 */
export function createReadSmallPage({ db, engine, prepareLookup }: Store): ReadSmallPage {
  if (engine === 'sqlite') return async () => undefined
  // The inner limit is a constant, because PostgreSQL plans a sort of the whole collection for a
  // limit that it does not know.
  const prepare = ({ after, order }: IdOrder) =>
    prepareLookup(
      sql<{ id: string; tag: string; body: string | null }>`
        select id, tag, case when octet_length(body) <= ${sql.lit(MAX_BYTES)} then body end as body
        from (
          select id, tag, body from documents
          where database = ${''} and collection = ${''} and id ${after} ${''}
          ${order} limit ${sql.lit(MAX_DOCUMENTS)}
        ) as page
        ${order} limit cast(${''} as integer)`.compile(db),
      { rows: MAX_BATCH_DOCUMENTS, rowsOf: (...parameters) => Number(parameters[3]) },
    )
  const ascending = prepare(ID_ORDERS.ascending)
  const descending = prepare(ID_ORDERS.descending)
  return async ({ database, collection }, range, limit) => {
    if (limit > MAX_DOCUMENTS) return undefined
    const lookUp = range.isDescending ? descending : ascending
    const { rows } = await lookUp(database, collection, beginOf(range), String(limit))
    return rows.every(isWhole) ? rows : undefined
  }
}

const isWhole = <T extends { readonly body: string | null }>(
  document: T,
): document is T & { readonly body: string } => document.body !== null
