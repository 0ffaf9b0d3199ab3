import { type Context, Hono, type HonoRequest } from 'hono'
import type { Logger } from 'pino'
import { Counter } from 'prom-client'
import type { Access } from './access/access.ts'
import { type AccessRoutesDeps, sessionRoutes, tokenRoutes, userRoutes } from './access/routes.ts'
import { ABSOLUTE } from './access/sessions.ts'
import type { AuditLog } from './audit/audit-log.ts'
import { auditRoutes } from './audit/routes.ts'
import { SYSTEM_DATABASE } from './contract/database.ts'
import type { ListenerStatus } from './contract/listener.ts'
import type { NodeStatus } from './contract/node.ts'
import type { Principal } from './contract/principal.ts'
import { atLeast } from './contract/role.ts'
import type { DatabaseRegistry } from './databases/registry.ts'
import { databaseRoutes } from './databases/routes.ts'
import { atOnceRoutes } from './documents/at-once-routes.ts'
import { collectionRoutes, sizeRoutes } from './documents/collection-routes.ts'
import { documentComponents, documentPaths } from './documents/describe-routes.ts'
import type { Documents } from './documents/documents.ts'
import { documentRoutes } from './documents/routes.ts'
import { schemaRoutes } from './documents/schema-routes.ts'
import type { Schemas } from './documents/schemas.ts'
import type { Sizes } from './documents/sizes.ts'
import { addressRoutes, listenerRoutes } from './endpoints/listener-routes.ts'
import type { Metrics } from './endpoints/metrics.ts'
import type { EndpointRegistry } from './endpoints/registry.ts'
import { endpointRoutes } from './endpoints/routes.ts'
import type { EventHub } from './events/hub.ts'
import { createOncePerWake } from './events/once-per-wake.ts'
import { eventRoutes, type WhoIsIn } from './events/routes.ts'
import { Failure, isStoreFailure, systemCode } from './failure.ts'
import type { Freshness } from './health/freshness.ts'
import type { FaultLog } from './health/log-fault.ts'
import type { Readiness } from './health/readiness.ts'
import { healthRoutes } from './health/routes.ts'
import { createAllowance } from './http/allowance.ts'
import { type RefusalDeps, recordRefusals } from './http/audited.ts'
import { createClientOf } from './http/client.ts'
import { describe } from './http/describe.ts'
import type { AppEnv } from './http/env.ts'
import { guardHost } from './http/guard-host.ts'
import { measureHead } from './http/measure-head.ts'
import { noRoute } from './http/no-route.ts'
import type { AtOnce } from './http/node-handler.ts'
import { describeApi } from './http/openapi.ts'
import { findPageFonts } from './http/page-fonts.ts'
import { partsBody } from './http/parts-body.ts'
import { createPermit, createPermitAtOnce, type PermitDeps } from './http/permit.ts'
import { API_JSON, renderFailure, toFailure } from './http/render-failure.ts'
import { splitRequestPath } from './http/request-path.ts'
import { type Reserve, type ResponseRoom, requireResponseRoom } from './http/response-room.ts'
import { securityHeaders } from './http/security-headers.ts'
import { selectDatabase } from './http/select-database.ts'
import { createSendList } from './http/send-list.ts'
import { consoleRoutes } from './http/serve-console.ts'
import { createSessionCookie } from './http/session-cookie.ts'
import { TwoPartRouter } from './http/two-part-router.ts'
import type { Jobs } from './jobs/jobs.ts'
import { jobRoutes } from './jobs/routes.ts'
import { nodeRoutes } from './nodes/routes.ts'
import type { LocalProvider } from './oauth2/local-provider.ts'
import { localProviderRoutes } from './oauth2/local-provider-routes.ts'
import type { PendingSignIns } from './oauth2/pending-sign-in.ts'
import type { Provider } from './oauth2/provider.ts'
import {
  type BeginSession,
  oauth2Routes,
  type ProviderDeps,
  providerRoutes,
} from './oauth2/routes.ts'
import { createSignInLimit } from './oauth2/sign-in-limit.ts'
import { failureKey } from './storage/failure-limit.ts'
import { createTurns } from './storage/turns.ts'

/** What the application is made of. */
export interface AppDeps {
  readonly documents: Documents
  readonly jobs: Jobs
  readonly schemas: Schemas
  readonly sizes: Sizes
  readonly access: Access
  /** The ways to sign in beside the local provider, in the order of their buttons. */
  readonly providers: readonly Provider[]
  readonly localProvider: LocalProvider
  readonly pendingSignIns: PendingSignIns
  /** Counts a failed attempt; see `storage/failure-limit.ts`. */
  readonly countFailure: (key: string) => void
  /** The id of this installation. */
  readonly instance: string
  /** Addresses and ranges of proxies whose forwarded headers count. */
  readonly trustedProxies: readonly string[]
  readonly endpoints: EndpointRegistry
  readonly databases: DatabaseRegistry
  readonly audit: AuditLog
  readonly events: EventHub
  readonly metrics: Metrics
  readonly responses: ResponseRoom
  readonly readiness: Readiness
  readonly log: Logger
  /** Makes what logs a fault: see `health/log-fault.ts`. */
  readonly logFault: FaultLog
  /** The name of this node. */
  readonly node: string
  /** What the other nodes of the store do with their listeners. */
  readonly otherListeners: () => readonly ListenerStatus[]
  /** The other nodes of the store. */
  readonly otherNodes: () => readonly NodeStatus[]
  /** The origin under which people reach the server, where it was configured. */
  readonly publicOrigin: string | undefined
  /** How long a removed endpoint drains, ms. */
  readonly drain: number
  /** Whether there is a certificate for `ssl` endpoints. */
  readonly certificate: boolean
  /** The folder of the built console. */
  readonly consoleFolder: string
  /** Follows what another process has changed in the store, before a request is looked at. */
  readonly catchUp: () => Promise<void> | undefined
  /** Missing with SQLite, which is asked for changes at every request. */
  readonly freshness: Pick<Freshness, 'isFresh' | 'require'> | undefined
}

/** Makes the application: every route of every database, answering through any endpoint. */
export function createApp(deps: AppDeps) {
  const { databases, access, freshness, log, publicOrigin } = deps
  const idOf = databases.idOf
  const permitDeps = permitDepsOf(deps)
  const { clientOf, cookie, isOurHost } = permitDeps
  const permit = createPermit(permitDeps)
  const reserve: Reserve = (c, bytes) => deps.responses.reserve(c.env.outgoing, bytes)
  const sendList = createSendList(reserve, createTurns())
  const bySession = (c: Context<AppEnv>) =>
    access.authenticate({
      authorization: undefined,
      session: cookie.read(c, clientOf(c).secure),
      background: true,
    })
  const oncePerWake = createOncePerWake<Principal | undefined>(deps.events, Date.now)
  const whoIsIn: WhoIsIn = async (c) => {
    // Asked again and again by streams, whose endpoint may have been mapped elsewhere meanwhile.
    const { names } = c.env.via.mapping
    if (names.length > 0 && !names.includes(SYSTEM_DATABASE)) return undefined
    const authorization = c.req.header('Authorization')
    const session = cookie.read(c, clientOf(c).secure)
    const principal = await oncePerWake(JSON.stringify([authorization, session]), () =>
      access
        .authenticate({ authorization, session, background: true })
        .catch((error: unknown) =>
          isAway(error) ? access.lastKnown({ authorization, session }) : undefined,
        ),
    )
    return principal !== undefined && atLeast(principal.role, 'viewer') ? principal : undefined
  }
  const beginSession: BeginSession = async (c, identity) => {
    const { address, secure } = clientOf(c)
    const userAgent = c.req.header('User-Agent') ?? null
    const before = await bySession(c)
    const secret = await access.signIn(identity, { address, userAgent })
    // The cookie of the last one is overwritten: it must not live on where nobody sees it.
    if (before !== undefined) {
      const actor = { name: before.username, by: 'session', address } as const
      await access.endSession(before.personId, before.credential, actor).catch(unlessGone)
    }
    return cookie.give(secret, secure)
  }
  const people: AccessRoutesDeps = { access, permit, clientOf, cookie, sendList }
  const local = deps.localProvider
  const providers = [...deps.providers, local.provider]
  const ways: ProviderDeps = { providers, clientOf, publicOrigin }
  const limit = createSignInLimit(Date.now)
  let openApi: Promise<string> | undefined

  const base = new Hono<AppEnv>({
    getPath: (request) => splitRequestPath(request).path,
    router: new TwoPartRouter(),
  })
  const app = base
    .use(async (c, next) => {
      if (!log.isLevelEnabled('debug')) return next()
      const begun = performance.now()
      await next()
      log.debug(
        {
          via: c.env.via.name,
          method: c.req.method,
          path: c.req.path,
          status: c.res.status,
          ms: Math.round((performance.now() - begun) * 1000) / 1000,
        },
        'request',
      )
    })
    .use(measureHead)
    .use(securityHeaders)
    .use((c, next) => {
      // Health is answered also where the store cannot be read.
      if (isHealth(c.req.path)) return next()
      const isStale = freshness !== undefined && !freshness.isFresh() && !servesStale(c.req)
      const waiting = isStale ? freshness.require() : deps.catchUp()
      return waiting?.then(next) ?? next()
    })
    .use(guardHost(isOurHost))
    .use(selectDatabase((name) => databases.has(name)))
    .use(requireResponseRoom(deps.responses))
    .use('/_api/*', async (c, next) => {
      c.header('Cache-Control', 'no-store')
      await next()
      // Seed 000 asks for the charset, which hono leaves out.
      if (c.res.headers.get('Content-Type') === 'application/json') {
        c.res.headers.set('Content-Type', API_JSON)
      }
    })
    .use('/_api/*', recordRefusals(refusals(deps)))
    .route('/_api/endpoint', endpointRoutes(deps.endpoints, permit, sendList))
    .route(
      '/_api/listener',
      listenerRoutes({
        endpoints: deps.endpoints,
        node: deps.node,
        others: deps.otherListeners,
        permit,
        sendList,
      }),
    )
    .route('/_api/address', addressRoutes(permit))
    .route('/_api/node', nodeRoutes({ node: deps.node, others: deps.otherNodes, permit }))
    .route('/_api/database', databaseRoutes(databases, permit, sendList))
    .route(
      '/_api/collection',
      collectionRoutes({
        documents: deps.documents,
        permit,
        idOf,
        exists: databases.has,
        sizes: deps.sizes,
        sendList,
      }),
    )
    .route(
      '/_api/size',
      sizeRoutes({ sizes: deps.sizes, permit, idOf, list: databases.list, sendList }),
    )
    .route('/_api/audit', auditRoutes(deps.audit, permit))
    .route('/_api/events', eventRoutes(deps.events, permit, whoIsIn))
    .route('/_api/health', healthRoutes(deps.readiness, permit))
    .route('/_api/session', sessionRoutes(people))
    .route('/_api/user', userRoutes(people))
    .route('/_api/token', tokenRoutes(people))
    .route('/_api/provider', providerRoutes(ways, permit('public'), permit('admin')))
    .get(
      '/_api/metrics',
      describe({ summary: 'Read the metrics', answers: { 200: 'text/plain' } }),
      permit('viewer'),
      async (c) => {
        const [body, length] = partsBody(await deps.metrics.read())
        await reserve(c, Number(length['Content-Length']))
        return c.body(body, 200, { ...length, 'Content-Type': deps.metrics.contentType })
      },
    )
    .get(
      '/_api/openapi.json',
      describe({ summary: 'Read this description', answers: { 200: 'application/json' } }),
      permit('public'),
      async (c) => {
        // The routes do not change while the process runs.
        openApi ??= describeApi(base, {
          paths: documentPaths,
          components: documentComponents,
        }).then((description) => JSON.stringify(description))
        return c.body(await openApi, 200, { 'Content-Type': API_JSON })
      },
    )
    .route('/healthz', healthRoutes(deps.readiness, permit))
    .get('/', permit('public'), (c) => {
      const database = c.get('database')
      if (database === SYSTEM_DATABASE) return c.redirect('/_console/', 302)
      return c.json({ service: 'gatehouse', database }, 200)
    })

  base.route(
    '/',
    documentRoutes({ documents: deps.documents, whole: deps.jobs, permit, reserve, idOf }),
  )
  base.route(
    '/_job',
    jobRoutes({ jobs: deps.jobs, documents: deps.documents, permit, reserve, idOf }),
  )
  base.route('/_schema', schemaRoutes({ schemas: deps.schemas, permit, idOf }))
  base.route(
    '/_oauth2',
    oauth2Routes({
      ...ways,
      pending: deps.pendingSignIns,
      limit,
      beginSession,
      hasSession: async (c) => (await bySession(c)) !== undefined,
      fonts: findPageFonts(deps.consoleFolder),
      log,
    }),
  )
  base.route('/_idp', localProviderRoutes({ local, limit, clientOf, publicOrigin }))
  base.get('/_console', (c) => c.redirect('/_console/', 308))
  base.route('/_console', consoleRoutes(deps.consoleFolder, deps))

  base.notFound((c) => {
    throw noRoute(base, c.req.method, c.req.path)
  })
  base.onError((error, c) => {
    const failure = toFailure(error)
    // Without a cause it is the store that is away, which was said when it went: not once a request.
    const isKnown = failure.code === 'busy' || (isAway(failure) && failure.cause === undefined)
    if (failure.kind.status >= 500 && !isKnown && !hasLeft(failure, c))
      deps.logFault(failure.message)(isStoreFailure(failure) ? failure : (failure.cause ?? failure))
    return renderFailure(failure, c)
  })
  return app
}

/** Makes what is asked before the application: see `documents/at-once-routes.ts`. */
export function createAtOnce(deps: AppDeps): AtOnce {
  const { documents, databases, log, catchUp, responses } = deps
  return atOnceRoutes({
    documents,
    permitAtOnce: createPermitAtOnce(permitDepsOf(deps)),
    exists: databases.has,
    idOf: databases.idOf,
    requireRoom: responses.requireRoom,
    isReady() {
      if (log.isLevelEnabled('debug')) return false
      const catchingUp = catchUp()
      // Whoever waits for it, the application first of all, is told when it fails.
      catchingUp?.catch(() => {})
      return catchingUp === undefined
    },
  })
}

/** The application's routes as types, for the console's client. */
export type Api = ReturnType<typeof createApp>

function permitDepsOf(deps: AppDeps): PermitDeps {
  const { access, endpoints, publicOrigin } = deps
  const publicHost = publicOrigin && new URL(publicOrigin).hostname
  return {
    authenticate: access.authenticate,
    recall: access.recall,
    lastKnown: access.lastKnown,
    countFailure: ({ address }) => deps.countFailure(failureKey('token', address)),
    clientOf: createClientOf(deps.trustedProxies),
    cookie: createSessionCookie(deps.instance, ABSOLUTE),
    isOurHost: (host) => host === publicHost || endpoints.hasHost(host),
    publicOrigin,
  }
}

/** Paths that are served by stale state: the console, and lists of what this node knows. */
const STALE_PATHS =
  /^\/(?:_console|_api\/(?:endpoint|listener|address|node|database|session|events|metrics|openapi\.json))(?:\/|$)/

/** Whether a request only reads what a node may show without knowing whether it is current. */
const servesStale = ({ method, path }: Pick<HonoRequest, 'method' | 'path'>) =>
  (method === 'GET' || method === 'HEAD') && STALE_PATHS.test(path)

/** So many refused changes of one person are put on record in a minute. */
const REFUSALS = 60

/** Whether a client was gone before it had sent its whole body: no fault of ours, and nobody to tell. */
const hasLeft = ({ cause }: Failure, { env }: Context<AppEnv>) =>
  systemCode(cause) === 'ECONNRESET' && env.incoming?.complete === false

const isHealth = (path: string) => /^\/(?:_api\/health|healthz)(?:\/|$)/.test(path)

const isAway = (error: unknown) => error instanceof Failure && error.code === 'unavailable'

/** Lets pass that somebody else has ended it first. */
function unlessGone(error: unknown): void {
  if (!(error instanceof Failure && error.code === 'not-found')) throw error
}

/** Where refused changes go: those of somebody known into the log, the others into a number. */
function refusals({ audit, events, metrics, logFault }: AppDeps): RefusalDeps {
  const anonymous = new Counter({
    name: 'gatehouse_anonymous_refusals_total',
    help: 'Changes refused to somebody not signed in',
    registers: [metrics.registry],
  })
  return {
    record: audit.recordRefusal,
    countAnonymous: () => anonymous.inc(),
    onRecorded: () => events.publish({ type: 'audit' }),
    allow: createAllowance(REFUSALS, 60_000, Date.now),
    onError: logFault('a refused change could not be put on record'),
  }
}
