import { createCollectionSearch } from '../documents/collections/collection-search.ts'
import { createTestRules } from '../documents/document-rules.testing.ts'
import { ScanLimit } from '../documents/find/scan-limit.ts'
import { createImporter } from '../documents/import/importer.ts'
import { createDocumentRepository } from '../documents/repository/stored-documents.ts'
import { createChangeDocuments } from '../documents/repository/writes/change-documents.ts'
import type { CurrentSchemaOf } from '../documents/schemas/schemas.ts'
import type { Store } from '../storage/store.ts'
import { createJobs, type Jobs, type JobsDeps } from './jobs.ts'

export interface TestJobsOptions extends Partial<JobsDeps> {
  /** By default, collections have no schemas. */
  readonly schemaOf?: CurrentSchemaOf | undefined
  readonly scans?: ScanLimit
}

/** Returns the jobs of a store. They import documents, but no databases. */
export function createTestJobs(store: Store, options: TestJobsOptions = {}): Jobs {
  const { schemaOf = async () => ({ tag: null }), scans = new ScanLimit(), ...deps } = options
  const { now = () => 1, pause = () => new Promise(setImmediate) } = deps
  const repository = createDocumentRepository(store)
  const importer = createImporter({ repository, now, schemaOf })
  return createJobs({
    store,
    rules: {
      ...createTestRules(now, { schemaOf, scan: repository.scan }),
      importPart: importer.part,
    },
    changeDocuments: createChangeDocuments(store),
    search: createCollectionSearch(store, scans),
    now,
    pause,
    onError: (error) => {
      throw error
    },
    ...deps,
  })
}
