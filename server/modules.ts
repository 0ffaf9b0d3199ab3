import type { Logger } from 'pino'
import { createAccessModule } from './access/module.ts'
import { fingerprint } from './access/secrets/secret-files.ts'
import { MAX_SESSION_AGE } from './access/sessions.ts'
import { createAuditModule } from './audit/module.ts'
import { createRecorder } from './audit/record.ts'
import { type CertificatesModule, createCertificatesModule } from './certificates/module.ts'
import type { Config } from './cli/config.ts'
import { createDatabasesModule } from './databases/module.ts'
import { createCollectionSearch } from './documents/collections/collection-search.ts'
import { createDocumentRules } from './documents/document-rules.ts'
import { createReadInIdOrder } from './documents/find/read-in-id-order.ts'
import { ScanLimit } from './documents/find/scan-limit.ts'
import { createImporter } from './documents/import/importer.ts'
import { createIndexesModule } from './documents/indexes/module.ts'
import { createDocumentsModule } from './documents/module.ts'
import { parseDocumentView } from './documents/query/document-view.ts'
import { createRecordEnd } from './documents/record-end.ts'
import { createDocumentRepository } from './documents/repository/stored-documents.ts'
import { createChangeDocuments } from './documents/repository/writes/change-documents.ts'
import { createSchemasModule } from './documents/schemas/module.ts'
import { createDatabaseImporter } from './documents/transfer/database-importer.ts'
import { canonicalAddress } from './endpoints/address.ts'
import { createHttpEngine } from './endpoints/listeners/http-engine.ts'
import type { Listener } from './endpoints/listeners/listener.ts'
import { createEndpointsModule } from './endpoints/module.ts'
import { createEventHub } from './events/hub.ts'
import { createEventsModule } from './events/module.ts'
import { createFeedModule } from './feed/module.ts'
import { createErrorLog } from './health/error-log.ts'
import { createHealthModule } from './health/module.ts'
import type { NodeReadiness } from './health/readiness.ts'
import { createHttpModule } from './http/module.ts'
import { createJobsModule } from './jobs/module.ts'
import { type ChangeSync, createChangeSync } from './nodes/change-sync.ts'
import { createNodesModule } from './nodes/module.ts'
import { createOAuth2Module } from './oauth2/module.ts'
import { createOverviewModule } from './overview/module.ts'
import { createPolicyModule } from './policy/module.ts'
import { type AccessLogOutput, createRequestsModule } from './requests/module.ts'
import type { UntilAvailable } from './storage/availability/until-available.ts'
import { createFailureLimit } from './storage/changes/failure-limit.ts'
import type { Store } from './storage/store.ts'
import type { Vault } from './storage/vault.ts'
import { createWebhooksModule } from './webhooks/module.ts'

export interface ModulesDeps {
  readonly config: Config
  readonly store: Store
  readonly vault: Vault
  readonly secretKey: Uint8Array
  /** Returns the current operator key. */
  readonly operatorKey: () => string
  /** The id of this installation. */
  readonly instance: string
  readonly readiness: NodeReadiness
  readonly untilAvailable: UntilAvailable
  /** The folder of the built console. */
  readonly consoleFolder: string
  readonly log: Logger
  /** Returns the number of dropped lines of the log. */
  readonly droppedLogLines: () => number
  /** The access log, if one is written. */
  readonly accessLog?: AccessLogOutput | undefined
}

/**
 * Creates the modules of a node, in an order in which each uses only earlier ones, and adds them to
 * `stack`. Nothing runs yet.
 */
export async function createModules(deps: ModulesDeps, stack: AsyncDisposableStack) {
  const { config, store, vault, secretKey, operatorKey, consoleFolder, log } = deps
  const { readiness, untilAvailable } = deps
  const logError = createErrorLog(store, log)
  const record = createRecorder()
  const events = createEventHub()
  const failures = createFailureLimit(store, Date.now, logError('cannot store failed sign-ins'))
  stack.defer(() => failures.stop())
  const engine = createHttpEngine<Listener>()
  stack.defer(() => engine.close())

  const http = stack.use(
    createHttpModule({
      publicOrigin: config.publicOrigin,
      trustedProxies: config.trustedProxies,
      instance: deps.instance,
      sessionLifetime: MAX_SESSION_AGE,
      responses: engine,
    }),
  )
  const access = stack.use(
    createAccessModule({
      store,
      vault,
      record,
      publish: events.publish,
      onEnded: events.wakeReaders,
      http,
      logError,
      admins: config.admins,
      operatorKey: () => fingerprint(operatorKey()),
      countFailure: failures.count,
      catchUp: () => changes.catchUp(),
    }),
  )
  const { requireRole } = access
  const databases = stack.use(
    await untilAvailable(() => createDatabasesModule({ store, record, events, http, requireRole })),
  )
  const { idOf } = databases
  const nodes = createNodesModule({
    store,
    events,
    requireRole,
    name: config.node,
    onError: logError('the nodes could not exchange their status'),
  })

  const repository = createDocumentRepository(store)
  const schemas = stack.use(createSchemasModule({ store, record, log, requireRole, idOf }))
  const indexes = stack.use(
    createIndexesModule({ store, record, requireRole, events, logError, idOf }),
  )
  const feed = stack.use(
    createFeedModule({
      ...{ store, record, requireRole, events, http, logError, idOf },
      now: nodes.now,
      exists: databases.has,
      parseView: parseDocumentView,
    }),
  )
  const webhooks = stack.use(
    createWebhooksModule({
      ...{ store, record, vault, feed, events, http, requireRole, logError, idOf },
      parseView: parseDocumentView,
      allow: config.webhookAllow,
      now: nodes.now,
    }),
  )
  const importer = createImporter({ repository, now: Date.now, schemaOf: schemas.current })
  const recordEnd = createRecordEnd({
    store,
    record,
    onRecorded: () => events.publish({ type: 'audit' }),
    onError: logError('the end of an import could not be recorded'),
  })
  const databaseImporter = createDatabaseImporter({
    store,
    record,
    repository,
    importer,
    schemas,
    indexes,
    recordEnd,
  })
  const scans = new ScanLimit()
  const jobs = stack.use(
    createJobsModule({
      store,
      http,
      requireRole,
      idOf,
      rules: createDocumentRules(repository.scan, Date.now, schemas.current, {
        importPart: importer.part,
        databaseImporter,
        recordEnd,
      }),
      documents: {
        readInIdOrder: createReadInIdOrder({ repository, scans }),
      },
      now: nodes.now,
      leaseClock: nodes.steadyNow,
      onError: logError('a job failed to continue'),
      search: createCollectionSearch(store, scans),
      changeDocuments: createChangeDocuments(store),
    }),
  )
  const documents = stack.use(
    createDocumentsModule({
      store,
      repository,
      importer,
      databaseImporter,
      recordEnd,
      schemas,
      jobs,
      databases,
      http,
      requireRole,
      secretKey,
      logError,
      scans,
    }),
  )
  events.on('database', () => {
    documents.purge()
    indexes.wake()
    jobs.wake()
  })

  const certificates: CertificatesModule = stack.use(
    await createCertificatesModule({
      store,
      vault,
      record,
      publish: events.publish,
      configured: config.tls,
      acme: config.acme,
      isServed: (port) => endpoints.addresses().some((each) => isTcpPort(each, port)),
      instance: deps.instance,
      now: nodes.now,
      log,
      onError: logError('a certificate could not be renewed'),
      http,
      requireRole,
    }),
  )
  const endpoints = stack.use(
    createEndpointsModule({
      store,
      record,
      engine,
      certificates,
      nodes,
      events,
      http,
      requireRole,
      log,
      droppedLogLines: deps.droppedLogLines,
      logError,
      grace: config.drain,
      reservedFolders: [config.data, ...config.keyFolders],
    }),
  )
  readiness.register(endpoints.metrics)
  certificates.register(endpoints.metrics)
  const policy = createPolicyModule({
    store,
    policies: endpoints.policies,
    now: nodes.now,
    canonicalAddress,
    mappingOf: endpoints.mappingOf,
    storedPolicies: endpoints.storedPolicies,
    databaseExists: databases.has,
    ownerOf: access.ownerOf,
    http,
    requireRole,
  })

  const changes: ChangeSync = stack.use(
    createChangeSync({
      store,
      async sync() {
        schemas.clearCache()
        documents.clearCache()
        // First: a policy that names a new certificate must find it.
        await certificates.sync()
        await oauth2.sync()
        const revisions = await Promise.all([endpoints.sync(), databases.sync()])
        // Last: no request waits for it, and its queries would delay those of the endpoints.
        indexes.onChange()
        webhooks.onChange()
        // Only after a successful sync: while the store is unavailable, recently known callers keep
        // read access.
        access.sync()
        return Math.min(...revisions)
      },
      onAccess: access.sync,
      onError: logError('cannot read the changes of other nodes'),
    }),
  )
  nodes.onHeartbeat(documents.takeOverPurge)
  const health = stack.use(createHealthModule({ store, readiness, changes, requireRole }))

  const { metrics } = endpoints
  const audit = stack.use(
    createAuditModule({ store, events, http, metrics, requireRole, logError }),
  )
  const oauth2 = stack.use(
    createOAuth2Module({
      countProviderError: engine.countProviderError,
      store,
      record,
      vault,
      secretKey,
      fingerprint,
      access,
      audit,
      events,
      http,
      log,
      logError,
      operatorKey,
      providers: config.providers,
      countFailure: failures.count,
      consoleFolder,
    }),
  )
  const requests = stack.use(
    createRequestsModule({
      ...{ engine, http, metrics, requireRole },
      node: nodes.name,
      accessLog: deps.accessLog,
    }),
  )
  const eventStreams = stack.use(
    createEventsModule({
      ...{ hub: events, access, http, requireRole },
      watchRequests: requests.watch,
      watchFeed: feed.watch,
    }),
  )
  endpoints.onRefusal(requests.recordRefusal)
  const overview = createOverviewModule({
    ...{ store, endpoints, nodes, certificates, http, requireRole, logError },
    data: config.data,
    canonicalAddress,
    databaseExists: databases.has,
  })
  return {
    http,
    access,
    databases,
    nodes,
    schemas,
    indexes,
    jobs,
    documents,
    certificates,
    endpoints,
    feed,
    policy,
    health,
    audit,
    oauth2,
    changes,
    engine,
    log,
    logError,
    hub: events,
    events: eventStreams,
    overview,
    requests,
    webhooks,
    consoleFolder,
    pageData: { drain: config.drain, acme: config.acme !== undefined },
  }
}

const isTcpPort = (address: string, port: number) =>
  address.startsWith('tcp:') && address.endsWith(`:${port}`)
