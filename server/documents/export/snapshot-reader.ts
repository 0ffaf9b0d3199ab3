import { sql } from 'kysely'
import { PAGE } from '../../contract/document.ts'
import { limitBytes } from '../../storage/changes/limit-bytes.ts'
import type { CollectionRef } from '../../storage/document-ref.ts'
import { beginOf, ID_ORDERS, type IdOrder, type IdRange } from '../../storage/sql/id-range.ts'
import { limitRows } from '../../storage/sql/limit-rows.ts'
import { listedIds } from '../../storage/sql/listed-ids.ts'
import type { Snapshot, Store } from '../../storage/store.ts'
import { createIndexReader, type IndexReader } from '../indexes/read/index-reader.ts'
import { createReadUntaggedBatch, type ScanBatch } from '../repository/scan-batches.ts'
import type { StoredDocument } from '../repository/stored-documents.ts'

/** Maximum number of documents that are read together, and of their bytes: a few milliseconds. */
const BATCH = { documents: 1_000, bytes: 256 * 1024 } as const

type Range = Omit<IdRange, 'last'>
type Document = Omit<StoredDocument, 'tag'>

export interface DocumentSize {
  readonly id: string
  readonly bytes: number
}

/** Reads the documents of a snapshot. */
export interface SnapshotReader extends AsyncDisposable {
  /** Returns the documents of a range, in batches. */
  read(where: CollectionRef, range: Range): AsyncGenerator<readonly Document[], void>
  /** Returns the sizes of the documents with these ids, in the order of the ids. */
  sizes(where: CollectionRef, ids: readonly string[]): Promise<DocumentSize[]>
  readonly indexes: IndexReader
  readonly prepareRead: Store['prepareRead']
}

/** Opens a snapshot of the documents. @throws Failure `unavailable` */
export async function openSnapshotReader(store: Store): Promise<SnapshotReader> {
  return readerOf(store, await store.openSnapshot())
}

function readerOf(store: Store, snapshot: Snapshot): SnapshotReader {
  const { db, engine } = store
  const { prepareRead } = snapshot
  const sizes = prepareRead(
    sql<DocumentSize>`
      select id, octet_length(body) as bytes from documents
      where database = ${''} and collection = ${''} and id ${listedIds(engine)}`.compile(db),
  )
  return {
    read: engine === 'sqlite' ? createRead(db, prepareRead) : createReadAhead(db, prepareRead),
    async sizes({ database, collection }, ids) {
      const { rows } = await sizes(database, collection, JSON.stringify(ids))
      const bytesOf = new Map(rows.map(({ id, bytes }) => [id, bytes]))
      return ids.flatMap((id) => {
        const bytes = bytesOf.get(id)
        return bytes === undefined ? [] : [{ id, bytes }]
      })
    },
    indexes: createIndexReader({ db, engine, prepareRead }),
    prepareRead,
    [Symbol.asyncDispose]: () => snapshot[Symbol.asyncDispose](),
  }
}

type PrepareRead = Snapshot['prepareRead']

/**
 * PostgreSQL only. It reads the next documents while the caller uses the last ones, so a second
 * batch is in memory.
 */
function createReadAhead(db: Store['db'], prepareRead: PrepareRead): SnapshotReader['read'] {
  const scan = createReadUntaggedBatch({ db }, async (query) =>
    prepareRead(query)(...query.parameters),
  )
  return async function* (where, range) {
    const readAfter = (after: string | undefined) => scan(where, { ...range, after }, BATCH.bytes)
    let next: Promise<ScanBatch<Document>> | undefined = readAfter(range.after)
    try {
      while (next !== undefined) {
        const batch: ScanBatch<Document> = await next
        const after: string | undefined = batch.last ?? batch.documents[PAGE.max - 1]?.id
        next = after === undefined ? undefined : readAfter(after)
        // An error is thrown when the caller asks for these documents.
        next?.catch(() => {})
        if (batch.documents.length > 0) yield batch.documents
      }
    } finally {
      await next?.catch(() => {})
    }
  }
}

/** SQLite only. It reads in the thread of the caller, so reading ahead would not save time. */
function createRead(db: Store['db'], prepareRead: PrepareRead): SnapshotReader['read'] {
  const prepare = ({ after, upTo, order }: IdOrder) => {
    const here = sql`database = ${''} and collection = ${''} and id ${after} ${''}`
    return {
      sizes: prepareRead(
        sql<{ id: string; bytes: number }>`
          select id, octet_length(body) as bytes from documents
          where ${here} ${order} limit ${limitRows(0)}`.compile(db),
      ),
      documents: prepareRead(
        sql<{ id: string; body: string }>`
          select id, body from documents where ${here} and id ${upTo} ${''} ${order}`.compile(db),
      ),
    }
  }
  const ascending = prepare(ID_ORDERS.ascending)
  const descending = prepare(ID_ORDERS.descending)
  return async function* ({ database, collection }, range) {
    const { sizes, documents } = range.isDescending ? descending : ascending
    for (let begin = beginOf(range); ; ) {
      // Sizes first: this many documents of the maximum size would take too much memory.
      const { rows } = await sizes(database, collection, begin, BATCH.documents)
      const last = rows[limitBytes(rows, BATCH.bytes) - 1]
      if (last === undefined) return
      yield (await documents(database, collection, begin, last.id)).rows
      begin = last.id
    }
  }
}
