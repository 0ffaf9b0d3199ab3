import { sql } from 'kysely'
import type { CollectionRef } from '../../storage/document-ref.ts'
import type { IdRange } from '../../storage/sql/id-range.ts'
import { listedIds } from '../../storage/sql/parameters.ts'
import type { Snapshot, Store } from '../../storage/store.ts'
import { createIndexReader, type IndexReader } from '../indexes/read/index-reader.ts'
import type { RequiredTexts } from '../query/filter.ts'
import { createScanNext, type ScanBatch, type ScanNext } from '../repository/scan-batch.ts'
import type { StoredDocument } from '../repository/stored-documents.ts'

type Document = Omit<StoredDocument, 'tag'>

export interface DocumentSize {
  readonly id: string
  readonly bytes: number
}

/** Reads the documents of a snapshot. */
export interface SnapshotReader extends AsyncDisposable {
  /** Returns the documents of a range that contain the texts, in batches. */
  read(
    where: CollectionRef,
    range: Omit<IdRange, 'last'>,
    required?: RequiredTexts,
  ): AsyncGenerator<readonly Document[], void>
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
    read: createRead(
      createScanNext(store, async (query) => prepareRead(query)(...query.parameters)),
    ),
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

/** Returns the batches of a scan. It reads the next one while the caller uses the last one. */
function createRead(scan: ScanNext): SnapshotReader['read'] {
  return async function* (where, range, required) {
    const readAfter = (after: string | undefined) => scan(where, { ...range, after }, { required })
    let next: Promise<ScanBatch> | undefined = readAfter(range.after)
    try {
      while (next !== undefined) {
        const { last, isEnd, documents }: ScanBatch = await next
        next = isEnd ? undefined : readAfter(last)
        // An error is thrown when the caller asks for these documents.
        next?.catch(() => {})
        yield documents
      }
    } finally {
      await next?.catch(() => {})
    }
  }
}
