import { sql } from 'kysely'
import { PAGE } from '../../contract/document.ts'
import type { CollectionRef } from '../../storage/document-ref.ts'
import type { Store } from '../../storage/store.ts'
import { beforeNul } from '../document-id.ts'
import type { IndexedDocument } from '../indexes/read/index-reader.ts'

/** Maximum number of documents: one more than a page has, to detect the next page. */
const MAX_DOCUMENTS = PAGE.default + 1

/** Maximum size of a document, bytes: a page has at most 256 KiB. */
const MAX_BYTES = Math.floor((256 * 1024) / MAX_DOCUMENTS)

/** Maximum number of documents that one statement returns, for several pages. */
const MAX_BATCH_DOCUMENTS = 8 * MAX_DOCUMENTS

/**
 * Returns at most `limit` documents in id order, after one id; undefined if there may be more than
 * {@link MAX_DOCUMENTS}, or if one is larger than {@link MAX_BYTES}.
 */
export type ReadSmallPage = (
  where: CollectionRef,
  after: string | undefined,
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
  const lookUp = prepareLookup(
    sql<{ id: string; tag: string; body: string | null }>`
      select id, tag, case when octet_length(body) <= ${sql.lit(MAX_BYTES)} then body end as body
      from (
        select id, tag, body from documents
        where database = ${''} and collection = ${''} and id > ${''}
        order by id limit ${sql.lit(MAX_DOCUMENTS)}
      ) as page
      order by id limit cast(${''} as integer)`.compile(db),
    { rows: MAX_BATCH_DOCUMENTS, rowsOf: (...parameters) => Number(parameters[3]) },
  )
  return async ({ database, collection }, after, limit) => {
    if (limit > MAX_DOCUMENTS) return undefined
    const { rows } = await lookUp(database, collection, beforeNul(after ?? ''), String(limit))
    return rows.every(isWhole) ? rows : undefined
  }
}

const isWhole = <T extends { readonly body: string | null }>(
  document: T,
): document is T & { readonly body: string } => document.body !== null
