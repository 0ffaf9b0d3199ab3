import type { Logger } from 'pino'
import { createAccess } from './access/access.ts'
import { type RefreshDeps, refreshTokens } from './access/refresh-tokens.ts'
import {
  fingerprint,
  type OperatorKey,
  openOperatorKey,
  openSecretKey,
} from './access/secret-files.ts'
import { requireSecretKey } from './access/stored-secrets.ts'
import { type AppDeps, createApp, createAtOnce } from './app.ts'
import { createAuditLog } from './audit/audit-log.ts'
import { createRecorder, START } from './audit/record.ts'
import type { Config } from './config.ts'
import type { Address } from './contract/address.ts'
import { SYSTEM_DATABASE } from './contract/database.ts'
import type { LiveEvent } from './contract/event.ts'
import { SAMPLE_SECONDS } from './contract/traffic.ts'
import { createDatabaseRegistry } from './databases/registry.ts'
import { createDocumentRules } from './documents/document-rules.ts'
import { createDocuments } from './documents/documents.ts'
import { createPurge } from './documents/purge.ts'
import { createDocumentRepository } from './documents/repository.ts'
import { createSchemaChecker } from './documents/schema-checker.ts'
import { createSchemas } from './documents/schemas.ts'
import { createSizes } from './documents/sizes.ts'
import { readAddress } from './endpoints/address.ts'
import { loadCertificate } from './endpoints/certificate.ts'
import { clash } from './endpoints/clash.ts'
import { createHttpEngine } from './endpoints/http-engine.ts'
import type { Listener } from './endpoints/listener.ts'
import { listenerStatus } from './endpoints/listener-status.ts'
import { reaches } from './endpoints/mapping.ts'
import { createMetrics } from './endpoints/metrics.ts'
import type { Peers } from './endpoints/peers.ts'
import { sweepProposals } from './endpoints/proposals.ts'
import { createEndpointRegistry, type EndpointRegistry } from './endpoints/registry.ts'
import { createEventHub } from './events/hub.ts'
import { Failure } from './failure.ts'
import { createFreshness } from './health/freshness.ts'
import { createFaultLog } from './health/log-fault.ts'
import { createReadiness } from './health/readiness.ts'
import { nodeHandler } from './http/node-handler.ts'
import { createJobs } from './jobs/jobs.ts'
import { createFollower } from './nodes/follower.ts'
import { createNodes, type Nodes } from './nodes/nodes.ts'
import { placeOfThisProcess } from './nodes/place.ts'
import { requireOtherWay } from './nodes/ways-in.ts'
import { createProvider } from './oauth2/create-provider.ts'
import { createPendingSignIns } from './oauth2/pending-sign-in.ts'
import { callbackPath } from './oauth2/sign-in.ts'
import { DEFAULT_ENDPOINT } from './settings.ts'
import { createFailureLimit } from './storage/failure-limit.ts'
import { instanceId } from './storage/instance-id.ts'
import { openStore } from './storage/open.ts'
import { createTurns } from './storage/turns.ts'
import { StoreUnavailable } from './storage/unavailable.ts'
import { createUntilAvailable, type UntilAvailable } from './storage/until-available.ts'
import { createVault } from './storage/vault.ts'

// Long, as the one place where everything meets: what is opened, in which order, and how it is undone.

/** How often the store is asked for changes of others when no request asks, ms. */
const CATCH_UP = 500

/** How long after its end a sample of the traffic is taken, ms: a timer may come a little early. */
const SAMPLE_AFTER = 20

/** How often it is looked for tokens of providers that are about to end, ms. */
const REFRESH = 60_000

/** How often it is looked for jobs of nodes that died, ms. */
const TAKE_OVER = 2_000

/** A running node. */
export interface Node {
  /** The addresses that listen, canonical, sorted. */
  readonly addresses: readonly string[]
  /** The addresses among them that reach `_system`, and with it the console. */
  readonly adminAddresses: readonly Address[]
  /** What the local provider asks for. */
  readonly operatorKey: OperatorKey
  /**
   * Stops in order: turns not ready, waits the ready delay, stops accepting, drains, closes the
   * store. Called again, it cuts what still drains.
   */
  stop(): Promise<void>
}

/**
 * Starts a node: opens in order, and if something fails undoes in reverse what was opened.
 *
 * @param config an endpoint with port 0 listens on a port that the system chooses, for tests.
 * @param consoleFolder where the console was built.
 * @param stopping aborts a start, which may wait for PostgreSQL without a limit.
 * @throws Failure with a sentence: the store cannot be opened, the certificate cannot be used, or no
 * endpoint at all at the first start; the reason of `stopping` where it was aborted.
 */
export async function start(
  config: Config,
  log: Logger,
  consoleFolder: string,
  stopping: AbortSignal = new AbortController().signal,
): Promise<Node> {
  const undo: (() => unknown)[] = []
  const since = performance.now()
  const untilAvailable = createUntilAvailable({
    signal: stopping,
    onWait({ message, cause }) {
      const reason = cause instanceof Error && cause.message !== '' ? cause.message : message
      const seconds = Math.round((performance.now() - since) / 1000)
      log.warn({ reason, seconds }, 'the start waits for the store')
    },
  })
  try {
    const node = await open(config, log, consoleFolder, undo, untilAvailable)
    stopping.throwIfAborted()
    return node
  } catch (error) {
    for (const close of undo.reverse()) await close()
    throw error
  }
}

async function open(
  config: Config,
  log: Logger,
  consoleFolder: string,
  undo: (() => unknown)[],
  untilAvailable: UntilAvailable,
): Promise<Node> {
  const readiness = createReadiness(log)
  const store = await openStore(
    config.databaseUrl === undefined ? { data: config.data } : { databaseUrl: config.databaseUrl },
    'node',
    readiness.storeIs,
    untilAvailable,
  )
  undo.push(() => store.close())
  readiness.connections = store.connections
  store.onReadOnly(readiness.storeIsReadOnly)
  const failed = createFaultLog(store, log)

  await untilAvailable(() => requireSecretKey(store, config.data, config.secretKey))
  const operatorKey = openOperatorKey(config.data, config.operatorKey)
  const secretKey = openSecretKey(config.data, config.secretKey)
  const vault = createVault(secretKey)
  const record = createRecorder()
  const events = createEventHub()
  const publish = (event: LiveEvent) => {
    events.publish(event)
    if (event.type === 'database') {
      purge.wake()
      jobs.wake()
    }
  }
  const access = createAccess({
    store,
    vault,
    record,
    admins: config.admins,
    now: Date.now,
    operatorKey: () => fingerprint(operatorKey.read()),
    onEnded: events.nudge,
    publish: events.publish,
    onError: failed('the use of sessions and tokens could not be stored'),
  })
  undo.push(() => access.stop())
  const certificate =
    config.tls && (await loadCertificate(config.tls, (message, err) => log.warn({ err }, message)))
  if (certificate !== undefined) undo.push(() => certificate.close())

  const stored = createDocumentRepository(store)
  const checker = createSchemaChecker({}, Date.now, (schema) =>
    log.warn({ schema }, 'a schema took too long and is rejected for a while'),
  )
  undo.push(checker.close)
  const schemas = createSchemas(store, checker)
  // Who has it keeps it until it ends; then another of the nodes has it next.
  const purges = () =>
    store.hold('purge').catch((error: unknown) => {
      if (error instanceof StoreUnavailable) return false
      throw error
    })
  let purged = false
  const purge = createPurge(
    stored,
    purges,
    () => new Promise(setImmediate),
    failed('the documents of a dropped database could not be deleted'),
    schemas.purge,
  )
  undo.push(() => purge.stop())
  const jobs = createJobs({
    store,
    rules: createDocumentRules(Date.now, schemas.validatorOf),
    // The clocks of nodes may differ by more than a job is theirs.
    now: () => nodes?.now() ?? Date.now(),
    pause: createTurns(),
    onError: failed('a job could not go on'),
  })
  undo.push(() => jobs.stop())
  const sizes = createSizes({
    repository: stored,
    now: Date.now,
    pause: () => new Promise(setImmediate),
    onError: failed('a database could not be measured'),
  })
  undo.push(() => sizes.stop())
  const databases = await untilAvailable(() => createDatabaseRegistry(store, publish, record))
  const engine = createHttpEngine<Listener>()
  undo.push(() => engine.close())
  // One node has a SQLite store to itself.
  const nodes =
    store.engine === 'postgres'
      ? createNodes({
          store,
          name: config.node,
          place: placeOfThisProcess(),
          changed: (endpoint) => events.publish({ type: 'listener', endpoint }),
          lookAround: () => endpoints.lookAround(),
          obey: (id, asked) => endpoints.obey(id, asked),
          onHeartbeat: async () => {
            // In case it was missed: what one look has failed to follow, the next one finds.
            if (follower.behind) await follower.follow()
            await sweepProposals(store)
            const ours = await purges()
            // What the node before us has left.
            if (ours && !purged) purge.wake()
            purged = ours
          },
          onError: failed('other nodes could not be told or heard of'),
        })
      : undefined
  const endpoints = createEndpointRegistry({
    store,
    record,
    engine,
    certificate,
    publish: events.publish,
    log,
    reservedFolders: [config.data, ...config.keyFolders],
    grace: config.drain,
    peers: nodes && peersOf(nodes),
  })
  undo.push(() => endpoints.stop(0))
  certificate?.onRenewed(() => {
    for (const listener of endpoints.listeners()) listener.renewCertificate()
    log.info('the renewed certificate is in use')
  })

  let followed: number | undefined
  const follower = createFollower(async () => {
    schemas.forget()
    followed = Math.min(...(await Promise.all([databases.sync(), endpoints.sync()])))
    // Not before: where there is no store to look into, who was known a moment ago still may look.
    access.sync()
  })
  const notFollowed = failed('what others have changed could not be read')
  const followInBackground = () => void follower.follow().catch(notFollowed)
  undo.push(
    store.onNotice((topic) => {
      if (topic === 'access') access.sync()
      else if (topic !== 'nodes') followInBackground()
    }),
  )
  // SQLite is asked for changes at every request instead.
  const freshness =
    store.readRevision &&
    createFreshness({
      readRevision: store.readRevision,
      async follow(revision) {
        // A notice of the same change may have come first.
        await follower.running?.catch(() => {})
        if (follower.behind || followed !== revision) await follower.follow()
      },
      changed: readiness.stateIs,
    })
  if (freshness !== undefined) {
    readiness.isFresh = freshness.isFresh
    undo.push(freshness.stop)
  }
  const hasChanged = () => follower.behind || store.changedOutside()
  let looked = false
  const catchUpOnce: AppDeps['catchUp'] = () => {
    // Nodes of one PostgreSQL are told of changes; requests do not wait for it: see `freshness`.
    if (freshness !== undefined) return undefined
    if (looked) return follower.running
    // Requests that are read in one turn of the event loop have come before the first of them is
    // looked at, or while that very turn lasts: one look at the store is enough for all.
    const changed = hasChanged()
    looked = true
    setImmediate(() => {
      looked = false
    })
    return changed ? follower.follow() : follower.running
  }

  // Imported here: commands beside a running node begin faster without it.
  const { createLocalProvider } = await import('./oauth2/local-provider.ts')
  const failures = createFailureLimit(
    store,
    Date.now,
    failed('failed sign-ins could not be stored'),
  )
  undo.push(() => failures.stop())
  const localProvider = createLocalProvider({
    store,
    vault,
    secretKey,
    operatorKey: operatorKey.read,
    fingerprint,
    publicOrigin: config.publicOrigin,
    countFailure: failures.count,
    now: Date.now,
    onError: (err) => log.error({ err }, 'the local provider failed'),
  })
  const providers = config.providers.map((each) => createProvider(each, { now: Date.now }))
  const refresh: RefreshDeps['refresh'] = (name, token) => {
    const provider = providers.find((each) => each.name === name)
    if (provider !== undefined) return provider.refresh(token)
    throw new Failure('bad-parameter', `The provider ${name} is not configured any more.`)
  }
  const metrics = createMetrics(
    () => endpoints.listeners(),
    () => engine.unsent,
  )
  readiness.register(metrics.registry)
  const deps: AppDeps = {
    access,
    documents: createDocuments(stored, Date.now, schemas.check, jobs),
    jobs,
    schemas,
    sizes,
    localProvider,
    providers,
    pendingSignIns: createPendingSignIns(store, vault, Date.now),
    countFailure: failures.count,
    instance: await untilAvailable(() => instanceId(store)),
    trustedProxies: config.trustedProxies,
    endpoints,
    databases,
    audit: createAuditLog(store),
    events,
    metrics,
    readiness,
    responses: engine,
    log,
    logFault: failed,
    node: config.node,
    otherListeners: () => nodes?.others() ?? [],
    otherNodes: () => nodes?.peers() ?? [],
    publicOrigin: config.publicOrigin,
    drain: config.drain,
    certificate: certificate !== undefined,
    consoleFolder,
    catchUp: catchUpOnce,
    freshness,
  }
  engine.onRequest(nodeHandler(createApp(deps).fetch, engine.doorOf, createAtOnce(deps)))

  if (nodes !== undefined) {
    undo.push(nodes.stop)
    await untilAvailable(nodes.start)
  }
  await untilAvailable(() => openEndpoints(endpoints, config))
  if (freshness !== undefined) await untilAvailable(freshness.start)
  announceProviders(config, log)
  const timers = [
    setInterval(() => {
      try {
        if (hasChanged()) followInBackground()
      } catch (error) {
        notFollowed(error)
      }
    }, CATCH_UP),
    setInterval(() => {
      refreshTokens({ store, vault, now: Date.now, refresh }).catch(
        failed('the tokens of providers could not be renewed'),
      )
    }, REFRESH),
    setInterval(jobs.wake, TAKE_OVER),
  ]
  const stopTimers = () => timers.forEach(clearInterval)
  undo.push(stopTimers)
  undo.push(sampleTraffic(endpoints))
  readiness.reason = null
  purge.wake()
  jobs.wake()

  let stopping: Promise<void> | undefined
  let endDelay = () => {}
  return {
    operatorKey,
    get addresses() {
      return endpoints
        .listeners()
        .filter(({ state }) => state === 'listening')
        .map(({ name }) => name)
    },
    get adminAddresses() {
      return endpoints
        .listeners()
        .filter(({ state, mapping }) => state === 'listening' && reaches(mapping, SYSTEM_DATABASE))
        .map(({ address }) => address)
    },
    stop() {
      if (stopping !== undefined) {
        endDelay()
        void endpoints.stop(0)
      }
      stopping ??= (async () => {
        readiness.reason = 'The node is stopping.'
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, config.readyDelay)
          endDelay = () => {
            clearTimeout(timer)
            resolve()
          }
        })
        // A node that drains takes over no jobs. What it still serves follows changes until the end.
        stopTimers()
        await endpoints.stop(config.drain)
        for (const close of undo.reverse()) await close()
      })()
      return stopping
    },
  }
}

/**
 * Samples what goes through the endpoints at every multiple of the period, on all nodes at the same
 * moments. Answers what ends it.
 */
function sampleTraffic(endpoints: EndpointRegistry): () => void {
  const period = SAMPLE_SECONDS * 1_000
  let timer: NodeJS.Timeout
  const wait = () => {
    timer = setTimeout(
      () => {
        endpoints.sample(Date.now())
        wait()
      },
      period - (Date.now() % period) + SAMPLE_AFTER,
    )
  }
  wait()
  return () => clearTimeout(timer)
}

/** The other nodes, as the endpoints need to know them. */
function peersOf(nodes: Nodes): Peers {
  let seen = -1
  // By port: it is asked for each of thousands of endpoints after each news.
  let held = new Map<number | string, Address[]>()
  const portOf = (address: Address) => (address.scheme === 'unix' ? address.path : address.port)
  const look = () => {
    seen = nodes.news
    held = Map.groupBy(
      [...nodes.here()]
        .filter(({ state }) => state === 'listening')
        .map(({ endpoint }) => readAddress(endpoint)),
      portOf,
    )
  }
  return {
    node: nodes.name,
    get any() {
      return nodes.any
    },
    holdHere(address) {
      if (seen !== nodes.news) look()
      return held.get(portOf(address))?.some((other) => clash(other, address)) ?? false
    },
    report: (listener) => nodes.report(listener.id, () => listenerStatus(listener, nodes.name)),
    forget: (listener) => nodes.forget(listener.id),
    ask: nodes.ask,
    requireOtherWay: (trx, address, own) => requireOtherWay(trx, address, nodes.name, own),
  }
}

/** Opens what is stored, and adds what the configuration gives and is missing. */
async function openEndpoints(endpoints: EndpointRegistry, config: Config): Promise<void> {
  await endpoints.restore()
  const first = endpoints.list().length === 0
  const given = first && config.endpoints.length === 0 ? [DEFAULT_ENDPOINT] : config.endpoints
  const listens = () => endpoints.listeners().some(({ state }) => state === 'listening')
  const failures: string[] = []
  // At the first start what cannot be opened is stored only once something else could be: a typing
  // error must not stay behind in a server that never ran.
  const late: (() => Promise<void>)[] = []
  for (const text of given) {
    const address = readAddress(text, { anyPort: true })
    try {
      await endpoints.ensure(address, START, first)
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error
      failures.push(`${text}: ${(error as Error).message}`)
      late.push(() => endpoints.ensure(address, START, false))
    }
  }
  if (first && !listens()) {
    throw new Failure('conflict', `No endpoint could be opened. ${failures.join(' ')}`)
  }
  for (const again of late) await again()
}

/** Says which URL has to be registered at each provider. */
function announceProviders({ providers, publicOrigin }: Config, log: Logger): void {
  for (const { name } of providers) {
    const callback = (publicOrigin ?? 'http://127.0.0.1:<port>') + callbackPath(name)
    log.info({ provider: name, callback }, 'the callback URL to register at the provider')
  }
  if (providers.length > 0 && publicOrigin === undefined) {
    log.warn('without --public-url, people can sign in on this machine alone')
  }
}
