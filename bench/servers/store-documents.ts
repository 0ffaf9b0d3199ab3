import { sql } from 'kysely'
import { createDocumentRepository } from '../../server/documents/repository/stored-documents.ts'
import { openStore, type StoreLocation } from '../../server/storage/open.ts'

/** Number of documents that are made at once. */
const BATCH = 10_000

/**
 * Stores documents directly, without the API, and maintains the indexes of the collection.
 * {@link settleStore} should follow.
 *
 * @param documentOf returns the document with this number.
 */
export async function storeDocuments(
  location: StoreLocation,
  name: string,
  collection: string,
  size: number,
  documentOf: (at: number) => { readonly id: string },
): Promise<void> {
  const store = await openStore(location, 'tool')
  const { id: database } = await store.db
    .selectFrom('databases')
    .select('id')
    .where('name', '=', name)
    .executeTakeFirstOrThrow()
  const repository = createDocumentRepository(store)
  let next = 0
  const storeBatches = async () => {
    for (let from = next; from < size; from = next) {
      next = Math.min(from + BATCH, size)
      const some = Array.from({ length: next - from }, (_, nth) => {
        const document = documentOf(from + nth)
        return { id: document.id, body: JSON.stringify(document) }
      })
      // Not `insert`, which sends a statement for each document.
      for (let stored = 0; stored < some.length; ) {
        const written = await repository.write({ database, collection }, some.slice(stored), {
          replaces: false,
        })
        if (written.some((each) => each !== 'created')) throw new Error('an id already exists')
        stored += written.length
      }
    }
  }
  // This process makes documents while PostgreSQL stores others.
  await Promise.all([storeBatches(), storeBatches()])
  await store.close()
}

/**
 * Brings PostgreSQL into the state that it reaches some minutes after many documents were stored,
 * so that its autovacuum and checkpoint do not run during a measurement. Does nothing on SQLite.
 */
export async function settleStore(location: StoreLocation): Promise<void> {
  if ('data' in location) return
  const store = await openStore(location, 'tool')
  await sql`vacuum analyze`.execute(store.db)
  await sql`checkpoint`.execute(store.db)
  await store.close()
}
