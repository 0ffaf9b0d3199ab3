import { sql } from 'kysely'
import { PAGE } from '../../contract/document.ts'
import type { CollectionRef } from '../../storage/document-ref.ts'
import type { Store } from '../../storage/store.ts'
import { beforeNul } from '../document-id.ts'
import type { IndexedDocument } from '../indexes/read/index-reader.ts'

/** Maximum number of documents: one more than a page detects the next page. */
const DOCUMENTS = PAGE.default + 1

/** Maximum size of a document, bytes. A page of the largest has 256 KiB. */
const BYTES = Math.floor((256 * 1024) / DOCUMENTS)

/** Maximum number of documents that PostgreSQL returns together. */
const TOGETHER = 8 * DOCUMENTS

/**
 * Returns at most `limit` documents in id order, after one id; undefined if there may be more than
 * {@link DOCUMENTS}, or if one is larger than {@link BYTES}.
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
      select id, tag, case when octet_length(body) <= ${sql.lit(BYTES)} then body end as body
      from (
        select id, tag, body from documents
        where database = ${''} and collection = ${''} and id > ${''}
        order by id limit ${sql.lit(DOCUMENTS)}
      ) as page
      order by id limit cast(${''} as integer)`.compile(db),
    { rows: TOGETHER, rowsOf: (...parameters) => Number(parameters[3]) },
  )
  return async ({ database, collection }, after, limit) => {
    if (limit > DOCUMENTS) return undefined
    const { rows } = await lookUp(database, collection, beforeNul(after ?? ''), String(limit))
    return rows.every(isWhole) ? rows : undefined
  }
}

const isWhole = <T extends { readonly body: string | null }>(
  document: T,
): document is T & { readonly body: string } => document.body !== null
