import { type SelectQueryBuilder, sql } from 'kysely'
import { PAGE } from '../../contract/document.ts'
import { limitBytes } from '../../storage/changes/portions.ts'
import type { CollectionRef, DocumentRef } from '../../storage/document-ref.ts'
import {
  beginOf,
  ID_ORDERS,
  type IdOrder,
  type IdRange,
  sqlOfRange,
} from '../../storage/sql/id-range.ts'
import type { Store } from '../../storage/store.ts'
import type { Tables } from '../../storage/tables.ts'
import { createBatchedPageReader } from '../indexes/read/batched-page-reader.ts'
import {
  createIndexReader,
  type IndexedDocument,
  type IndexReader,
} from '../indexes/read/index-reader.ts'
import { createPageReader, type PageReader } from '../indexes/read/page-reader.ts'
import { createDocumentCounts, type DocumentCounts } from './document-counts.ts'
import { createScanNext, type ScanNext } from './scan-batch.ts'
import { createDocumentChanges, type DocumentChanges } from './writes/document-changes.ts'
import { createWriteDocuments, type WriteDocuments } from './writes/write-documents.ts'

/** A stored document. The body is its JSON with the `id`; the tag identifies this state. */
export interface StoredDocument {
  readonly id: string
  readonly tag: string
  readonly body: string
}

type Found = StoredDocument | undefined

/** See {@link DocumentRepository.readEach}. */
export type ReadEach = (where: CollectionRef, ids: readonly string[]) => AsyncIterable<Found>

/** Number of documents that PostgreSQL looks up together, of up to {@link BATCHED_BYTES} each. */
const LOOKUPS = 16

/**
 * Maximum size of a body that PostgreSQL returns together with other reads, bytes. Larger documents
 * are read separately, which bounds the size of a batch.
 */
const BATCHED_BYTES = 64 * 1024

/** The documents that fit into a number of bytes; see {@link DocumentRepository.extent}. */
export interface Extent {
  readonly last: string | undefined
  readonly bytes: number
  readonly documents?: readonly StoredDocument[]
}

/** The documents of a store. Every change is durable when its promise resolves. */
export interface DocumentRepository extends DocumentChanges, DocumentCounts {
  /**
   * Returns a document; a promise only if the store is asynchronous. Do not modify it: concurrent
   * reads may share the object.
   */
  read(ref: DocumentRef): Found | Promise<Found>
  /**
   * Yields the document of each id, in order; undefined if there is none. Small documents are read
   * together, and large ones one by one as they are consumed.
   */
  readonly readEach: ReadEach
  /** Returns the first documents of a range, at most `limit`. */
  list(where: CollectionRef, range: IdRange, limit: number): Promise<StoredDocument[]>
  /**
   * Returns how far {@link list} may read without exceeding `maxBytes`, at least one document.
   * `last` is undefined if all of them fit. `bytes` is their total size. `documents` are what
   * {@link list} would return, if they are small enough to be read with their sizes.
   */
  extent(where: CollectionRef, range: IdRange, limit: number, maxBytes: number): Promise<Extent>
  /** See `scan-batch.ts`. */
  readonly scan: ScanNext
  /** See `writes/write-documents.ts`. */
  readonly write: WriteDocuments
  readonly indexes: IndexReader & PageReader
}

/** A document whose body is null if it is larger than {@link BATCHED_BYTES}. */
type Small = Omit<StoredDocument, 'body'> & { readonly body: string | null }

/** Returns a {@link ReadEach} for a store that is in the process. */
const readOneByOne = (read: DocumentRepository['read']): ReadEach =>
  async function* (where, ids) {
    for (const id of ids) yield read({ ...where, id })
  }

/** Returns the documents of a store. */
export function createDocumentRepository(store: Store): DocumentRepository {
  const { db, engine, prepareLookup, prepareRead } = store
  const some = db.selectFrom('documents').select(['id', 'tag', 'body'])
  const one = <R>(query: SelectQueryBuilder<Tables, 'documents', R>) =>
    query.where('database', '=', '').where('collection', '=', '').where('id', '=', '').compile()
  const isSmall = sql`octet_length(body) <= ${sql.lit(BATCHED_BYTES)}`
  const small = sql<string | null>`case when ${isSmall} then body end`.as('body')
  const lookUp = prepareLookup<Small>(
    one(engine === 'sqlite' ? some : db.selectFrom('documents').select(['id', 'tag', small])),
  )
  const readLarge = prepareRead(one(some))
  /** Returns a document, without its body if it is to be read separately. */
  const readSmall = ({ database, collection, id }: DocumentRef) => {
    // No id contains U+0000, and PostgreSQL rejects it.
    if (id.includes('\0')) return undefined
    const reading = lookUp(database, collection, id)
    if (!(reading instanceof Promise)) return reading.rows[0]
    return reading.then(({ rows: [found] }) => found)
  }
  const complete = (
    { database, collection }: CollectionRef,
    found: Small | undefined,
  ): Found | Promise<Found> => {
    if (found === undefined || isComplete(found)) return found
    return Promise.resolve(readLarge(database, collection, found.id)).then(({ rows }) => rows[0])
  }
  const read = (ref: DocumentRef) => {
    const found = readSmall(ref)
    return found instanceof Promise
      ? found.then((small) => complete(ref, small))
      : complete(ref, found)
  }
  const readTogether: ReadEach = async function* (where, ids) {
    for (let at = 0; at < ids.length; at += LOOKUPS) {
      const some = ids.slice(at, at + LOOKUPS)
      const found = await Promise.all(some.map((id) => readSmall({ ...where, id })))
      for (const each of found) yield complete(where, each)
    }
  }
  const readSmallPage = createReadSmallPage(store)
  /** Returns the query of the first documents of a range. */
  const inRange = ({ database, collection }: CollectionRef, range: IdRange, limit: number) => {
    const { isWithin, direction } = sqlOfRange(range)
    return db
      .selectFrom('documents')
      .where('database', '=', database)
      .where('collection', '=', collection)
      .where(isWithin)
      .orderBy('id', direction)
      .limit(limit)
  }
  const tagOf = async (ref: DocumentRef) => (await read(ref))?.tag
  const extent: DocumentRepository['extent'] = async (where, range, limit, maxBytes) => {
    const documents =
      range.last === undefined ? await readSmallPage(where, range, limit) : undefined
    if (documents !== undefined) {
      const bytes = documents.reduce((sum, { body }) => sum + Buffer.byteLength(body), 0)
      if (bytes <= maxBytes) return { last: undefined, bytes, documents }
    }
    const rows = await inRange(where, range, limit)
      .select(['id', sql<number>`octet_length(body)`.as('bytes')])
      .execute()
    const fit = limitBytes(rows, maxBytes)
    const bytes = rows.slice(0, fit).reduce((sum, row) => sum + row.bytes, 0)
    return { last: fit === rows.length ? undefined : rows[fit - 1]?.id, bytes }
  }

  return {
    ...createDocumentChanges(store, tagOf),
    ...createDocumentCounts(store),
    read,
    readEach: engine === 'sqlite' ? readOneByOne(read) : readTogether,
    indexes: {
      ...createIndexReader(store),
      ...(engine === 'sqlite' ? createPageReader(store) : createBatchedPageReader(store)),
    },
    list: (where, range, limit) =>
      inRange(where, range, limit).select(['id', 'tag', 'body']).execute(),
    extent,
    scan: createScanNext(store),
    write: createWriteDocuments(store),
  }
}

/** Maximum number of documents of a small page: one more than it returns, to detect the next page. */
const SMALL_PAGE_DOCUMENTS = PAGE.default + 1

/** Maximum size of a document of a small page, bytes: the page has at most 256 KiB. */
const SMALL_PAGE_BYTES = Math.floor((256 * 1024) / SMALL_PAGE_DOCUMENTS)

/** Maximum number of documents that one statement returns, for several pages. */
const MAX_BATCH_DOCUMENTS = 8 * SMALL_PAGE_DOCUMENTS

/**
 * Returns the first documents of a range without a last id, at most `limit`; undefined if there may
 * be more than {@link SMALL_PAGE_DOCUMENTS}, or if one is larger than {@link SMALL_PAGE_BYTES}.
 */
type ReadSmallPage = (
  where: CollectionRef,
  range: Omit<IdRange, 'last'>,
  limit: number,
) => Promise<readonly IndexedDocument[] | undefined>

/**
 * Returns a function that reads the documents of a page together with their sizes. It saves
 * PostgreSQL a statement; on SQLite, it always returns undefined.
 */
function createReadSmallPage({ db, engine, prepareLookup }: Store): ReadSmallPage {
  if (engine === 'sqlite') return async () => undefined
  // The inner limit is a constant, because PostgreSQL plans a sort of the whole collection for a
  // limit that it does not know.
  const prepare = ({ after, order }: IdOrder) =>
    prepareLookup(
      sql<{ id: string; tag: string; body: string | null }>`
        select id, tag, case when octet_length(body) <= ${sql.lit(SMALL_PAGE_BYTES)} then body end as body
        from (
          select id, tag, body from documents
          where database = ${''} and collection = ${''} and id ${after} ${''}
          ${order} limit ${sql.lit(SMALL_PAGE_DOCUMENTS)}
        ) as page
        ${order} limit cast(${''} as integer)`.compile(db),
      { rows: MAX_BATCH_DOCUMENTS, rowsOf: (...parameters) => Number(parameters[3]) },
    )
  const ascending = prepare(ID_ORDERS.ascending)
  const descending = prepare(ID_ORDERS.descending)
  return async ({ database, collection }, range, limit) => {
    if (limit > SMALL_PAGE_DOCUMENTS) return undefined
    const lookUp = range.isDescending ? descending : ascending
    const { rows } = await lookUp(database, collection, beginOf(range), String(limit))
    return rows.every(isComplete) ? rows : undefined
  }
}

const isComplete = <T extends { readonly body: string | null }>(
  document: T,
): document is T & { readonly body: string } => document.body !== null
