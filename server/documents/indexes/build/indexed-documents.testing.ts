import { createTestJobs } from '../../../jobs/jobs.testing.ts'
import type { CollectionRef } from '../../../storage/document-ref.ts'
import type { Store } from '../../../storage/store.ts'
import { createTestDocuments } from '../../documents.testing.ts'
import { createDocumentRepository } from '../../repository/stored-documents.ts'
import { openIndexesOf } from './build-indexes.testing.ts'

/** Number of documents of a part of an array. */
const PART = 250

/**
 * Returns the documents of a store with their indexes and jobs.
 *
 * @param between called between two steps of a job.
 */
export function openIndexedDocuments(store: Store, between: () => Promise<unknown>) {
  const errors: unknown[] = []
  const jobs = createTestJobs(store, {
    pause: async () => {
      await new Promise(setImmediate)
      await between()
    },
    onError: (error) => errors.push(error),
  })
  const documents = createTestDocuments({
    repository: createDocumentRepository(store),
    now: () => 0,
  })
  return {
    jobs,
    documents,
    indexes: openIndexesOf(store),
    /** Errors that jobs have reported. */
    errors,
    /** Creates documents with one array. */
    async createArray(where: CollectionRef, list: readonly object[]): Promise<void> {
      async function* parts() {
        for (let at = 0; at < list.length; at += PART) {
          yield list.slice(at, at + PART).map((each) => JSON.stringify(each))
        }
      }
      await documents.createMany(where, parts(), {
        onConflict: 'fail',
        respondAsync: false,
        beginImport: (rest) => jobs.beginImport(where, { onConflict: 'fail' }, rest),
      })
    },
  }
}
