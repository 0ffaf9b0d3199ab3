import type { Store } from '../../storage/store.ts'
import { createStoredDocuments, type DocumentRepository } from './stored-documents.ts'
import { withUnapplied } from './unapplied-documents.ts'

/**
 * Returns the documents of a store, including committed changes that are not yet written to the
 * table.
 */
export function createDocumentRepository(store: Store): DocumentRepository {
  const stored = createStoredDocuments(store)
  const { collectionWrites } = store
  return collectionWrites === undefined ? stored : withUnapplied(stored, collectionWrites)
}
