import type { DatabasesModule } from '../databases/module.ts'
import type { ErrorLog } from '../health/error-log.ts'
import type { RequireRole } from '../http/guards/require-role.ts'
import type { HttpModule } from '../http/module.ts'
import { StoreUnavailable } from '../storage/availability/unavailable.ts'
import type { Store } from '../storage/store.ts'
import { collectionRoutes, sizeRoutes } from './collections/collection-routes.ts'
import { createSizes } from './collections/sizes.ts'
import type { WholeCollections } from './collections/whole-collection-routes.ts'
import { createDamageLog } from './damage-log.ts'
import { createDocuments } from './documents.ts'
import { createExporter } from './export/exporter.ts'
import type { ScanLimit } from './find/scan-limit.ts'
import type { Importer } from './import/importer.ts'
import type { BeginImport } from './import/stored-part.ts'
import { createCursors } from './query/cursor.ts'
import type { RecordEnd } from './record-end.ts'
import { createPurge } from './repository/document-counts.ts'
import type { DocumentRepository } from './repository/stored-documents.ts'
import { dataRoutes } from './routes.ts'
import type { SchemasModule } from './schemas/module.ts'
import type { DatabaseImporter } from './transfer/database-importer.ts'
import { transferRoutes } from './transfer/transfer-routes.ts'

export interface DocumentsModuleDeps {
  readonly store: Store
  readonly repository: DocumentRepository
  readonly importer: Importer
  readonly databaseImporter: DatabaseImporter
  readonly recordEnd: RecordEnd
  readonly schemas: Pick<SchemasModule, 'check' | 'current' | 'purge'>
  readonly jobs: WholeCollections & { readonly beginImport: BeginImport }
  readonly databases: Pick<DatabasesModule, 'has' | 'idOf' | 'list'>
  readonly http: Pick<HttpModule, 'reserve' | 'sendList'>
  readonly requireRole: RequireRole
  readonly secretKey: Uint8Array
  readonly scans: ScanLimit
  readonly logError: ErrorLog
}

/** Creates the documents with the purge of dropped databases and their sizes, and their routes. */
export function createDocumentsModule(deps: DocumentsModuleDeps) {
  const { store, repository, importer, schemas, jobs, databases, requireRole, logError } = deps
  const { reserve, sendList } = deps.http
  const { has: exists, idOf, list } = databases
  const pause = () => new Promise(setImmediate)

  // Held until the process exits; another node then acquires it.
  const holdPurge = () =>
    store.acquireLock('purge').catch((error: unknown) => {
      if (error instanceof StoreUnavailable) return false
      throw error
    })
  const purge = createPurge(
    repository,
    holdPurge,
    pause,
    logError('cannot delete the documents of a dropped database'),
    schemas.purge,
  )
  let isHolder = false

  const onDamaged = createDamageLog(logError('a stored document is left out of queries'))
  const documents = createDocuments({
    repository,
    now: Date.now,
    check: schemas.check,
    cursors: createCursors(deps.secretKey),
    scans: deps.scans,
    onDamaged,
  })
  const sizes = createSizes({
    repository,
    now: Date.now,
    pause,
    onError: logError('cannot measure the size of a database'),
  })
  const exports = {
    exporter: createExporter(store, undefined, onDamaged),
    onExportError: logError('an export was aborted'),
  }
  const { beginImport } = jobs
  return {
    routes: dataRoutes({
      documents,
      importer,
      beginImport,
      recordEnd: deps.recordEnd,
      wholeCollections: jobs,
      requireRole,
      reserve,
      currentSchema: schemas.current,
      idOf,
      ...exports,
    }),
    transferRoutes: transferRoutes({
      ...exports,
      databaseImporter: deps.databaseImporter,
      beginImport,
      requireRole,
      idOf,
    }),
    collectionRoutes: collectionRoutes({ documents, requireRole, idOf, exists, sizes, sendList }),
    sizeRoutes: sizeRoutes({ sizes, requireRole, idOf, list, sendList }),
    /** Clears cached indexes after another process has changed the database. */
    clearCache: documents.clearCache,
    /** Purges dropped databases, on one of the nodes. */
    purge: purge.wake,
    /** Takes over a purge that another node left unfinished. Called periodically. */
    async takeOverPurge(): Promise<void> {
      const holds = await holdPurge()
      if (holds && !isHolder) purge.wake()
      isHolder = holds
    },
    async [Symbol.asyncDispose]() {
      await sizes.stop()
      await purge.stop()
    },
  }
}

export type DocumentsModule = ReturnType<typeof createDocumentsModule>
