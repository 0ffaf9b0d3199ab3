import { Hono, type HonoRequest, type MiddlewareHandler } from 'hono'
import { createMiddleware } from 'hono/factory'
import type { Logger } from 'pino'
import type { AccessModule } from './access/module.ts'
import type { AuditModule } from './audit/module.ts'
import type { CertificatesModule } from './certificates/module.ts'
import { SYSTEM_DATABASE } from './contract/database.ts'
import type { DatabasesModule } from './databases/module.ts'
import { documentComponents } from './documents/describe-components.ts'
import type { IndexesModule } from './documents/indexes/module.ts'
import type { DocumentsModule } from './documents/module.ts'
import type { SchemasModule } from './documents/schemas/module.ts'
import type { EndpointsModule } from './endpoints/module.ts'
import type { EventsModule } from './events/module.ts'
import type { FeedModule } from './feed/module.ts'
import type { ErrorLog } from './health/error-log.ts'
import type { HealthModule } from './health/module.ts'
import { createDispatch, TwoPartRouter } from './http/dispatch.ts'
import type { AppEnv } from './http/env.ts'
import { requireAdmitted } from './http/guards/endpoint-rules.ts'
import { guardHost } from './http/guards/guard-host.ts'
import { permissionOf } from './http/guards/require-role.ts'
import { selectDatabase } from './http/guards/select-database.ts'
import { splitRequestPath } from './http/input/url.ts'
import type { HttpModule } from './http/module.ts'
import { describeApi } from './http/openapi/openapi.ts'
import { openApiRoutes } from './http/openapi/openapi-routes.ts'
import { compressResponses } from './http/output/compression/compress-responses.ts'
import { withEquivalent } from './http/output/equivalent-paths.ts'
import { noRoute } from './http/output/no-route.ts'
import { API_JSON, createErrorHandler } from './http/output/render-failure.ts'
import { requireResponseMemory } from './http/output/response-memory.ts'
import { securityHeaders } from './http/output/security-headers.ts'
import { consoleRoutes, type PageData } from './http/static/serve-console.ts'
import { STYLE_PATH } from './http/static/sign-in-pages.ts'
import type { JobsModule } from './jobs/module.ts'
import type { ChangeSync } from './nodes/change-sync.ts'
import type { NodesModule } from './nodes/module.ts'
import type { OAuth2Module } from './oauth2/module.ts'
import type { OverviewModule } from './overview/module.ts'
import type { PolicyModule } from './policy/module.ts'
import type { FindRoute } from './policy/routes.ts'
import { hideSecrets } from './requests/ended-request.ts'
import type { RequestsModule } from './requests/module.ts'
import type { WebhooksModule } from './webhooks/module.ts'

/** The parts of a node that serve requests. */
export interface AppModules {
  readonly access: AccessModule
  readonly audit: AuditModule
  readonly certificates: CertificatesModule
  readonly changes: Pick<ChangeSync, 'catchUp'>
  readonly databases: DatabasesModule
  readonly documents: DocumentsModule
  readonly endpoints: EndpointsModule
  readonly events: EventsModule
  readonly feed: FeedModule
  readonly health: HealthModule
  readonly http: HttpModule
  readonly indexes: IndexesModule
  readonly jobs: JobsModule
  readonly nodes: NodesModule
  readonly oauth2: OAuth2Module
  readonly overview: OverviewModule
  readonly policy: PolicyModule
  readonly requests: RequestsModule
  readonly schemas: SchemasModule
  readonly webhooks: WebhooksModule
  readonly log: Logger
  readonly logError: ErrorLog
  /** The folder of the built console. */
  readonly consoleFolder: string
  readonly pageData: PageData
}

/** Returns the application: every route of every database, served through any endpoint. */
export function createApp(modules: AppModules) {
  const { access, audit, databases, documents, endpoints, events, health, http } = modules
  const { requireRole } = access
  const ownHost = guardHost(http.hosts.has, http.clientOf, http.publicOrigin)
  const base = new Hono<AppEnv>({
    getPath: (request) => splitRequestPath(request).path,
    router: new TwoPartRouter(),
  })

  const app = base
    .use(securityHeaders)
    .use(compressResponses())
    .use(
      requireFresh({
        catchUp: modules.changes.catchUp,
        freshness: health.freshness,
        admit: requireAdmitted(http.clientOf),
      }),
    )
    .use('/_console/*', ownHost)
    .use('/_oauth2/*', ownHost)
    .use('/_idp/*', ownHost)
    .use(selectDatabase(databases.has, databases.idOf))
    .use(requireResponseMemory(http.responses))
    .use('/_api/*', apiHeaders)
    .use('/_api/*', audit.recordRejections)
    .use('/_feed/*', audit.recordRejections)
    .use('/_index/*', audit.recordRejections)
    .use('/_schema/*', audit.recordRejections)
    .use('/_import', audit.recordRejections)
    .use('/_api/session', events.lastEventHeader)
    .route('/_api/endpoint', endpoints.routes)
    .route('/_api/endpoint-change', endpoints.changeRoutes)
    .route('/_api/listener', endpoints.listenerRoutes)
    .route('/_api/request', modules.requests.routes)
    .route('/_api/traffic', modules.overview.trafficRoutes)
    .route('/_api/attention', modules.overview.attentionRoutes)
    .route('/_api/address', endpoints.addressRoutes)
    .route('/_api/endpoint-check', endpoints.checkRoutes)
    .route('/_api/policy', modules.policy.routes)
    .route('/_api/policy-trial', modules.policy.trialRoutes)
    .route('/_api/policy-test', modules.policy.testRoutes(createFindRoute(() => base)))
    .route('/_api/certificate', modules.certificates.routes)
    .route('/_api/certificate-root', modules.certificates.rootRoutes)
    .route('/_api/node', modules.nodes.routes)
    .route('/_api/database', databases.routes)
    .route('/_api/collection', documents.collectionRoutes)
    .route('/_api/size', documents.sizeRoutes)
    .route('/_api/audit', audit.routes)
    .route('/_api/events', events.routes)
    .route('/_api/health', health.routes)
    .route('/_api/session', access.sessionRoutes)
    .route('/_api/user', access.userRoutes)
    .route('/_api/token', access.tokenRoutes)
    .route('/_api/webhook', modules.webhooks.routes)
    .route('/_api/provider', modules.oauth2.providerRoutes)
    .route('/_api/invitation', modules.oauth2.invitationRoutes)
    .route('/_api/metrics', endpoints.metricsRoutes)
    .route(
      '/_api/openapi.json',
      openApiRoutes(requireRole, () => describeApi(base, documentComponents)),
    )
    .route('/healthz', health.routes)
    .get('/', requireRole('public'), (c) => {
      const database = c.get('database')
      const isHidden = c.env.listener.policy?.hides('/_console/')
      if (database === SYSTEM_DATABASE && !isHidden) return c.redirect('/_console/', 302)
      return c.json({ service: 'gatehouse', database }, 200)
    })
    .route('/', documents.routes)
    .route('/', documents.transferRoutes)
    .route('/_job', modules.jobs.routes)
    .route('/_schema', modules.schemas.routes)
    .route('/_index', modules.indexes.routes)
    .route('/_feed', modules.feed.routes)

  base
    .route('/_oauth2', modules.oauth2.routes)
    .route('/_idp', modules.oauth2.localRoutes)
    .get('/_console', (c) => c.redirect('/_console/', 308))
    .route('/_console', consoleRoutes(modules.consoleFolder, modules.pageData))

  const dispatch = createDispatch(base, {
    onError: createErrorHandler(modules.logError),
    notFound(c) {
      const { method, path } = c.req
      throw withEquivalent(noRoute(base, method, path), method, path)
    },
  })
  base.fetch = logRequests(modules.log, dispatch)
  return app
}

/**
 * Returns a function that finds what the route of a request requires. `app` is called later, because
 * it has no routes yet.
 */
const createFindRoute =
  (app: () => Hono<AppEnv>): FindRoute =>
  (method, path) => {
    const [handlers] = app().router.match(method === 'HEAD' ? 'GET' : method, path)
    const declared = handlers
      .values()
      .map(([[handler]]) => permissionOf(handler))
      .find((each) => each !== undefined)
    if (declared === undefined) {
      const isMethod = noRoute(app(), method, path).code === 'method-not-allowed'
      return { route: isMethod ? 'method' : 'path' }
    }
    const { byToken, documents } = declared
    return {
      route: 'found',
      needs: byToken === 'public' || byToken === 'known' ? undefined : byToken,
      collection: documents ? path.split('/')[1] : undefined,
    }
  }

/** The application's routes as types, for the console's client. */
export type Api = ReturnType<typeof createApp>

interface RequireFreshDeps {
  /**
   * Syncs changes made by another process, before each request. Returns undefined if there are
   * none.
   */
  readonly catchUp: () => Promise<void> | undefined
  /** Undefined with SQLite, where each request checks the store for changes. */
  readonly freshness: { isFresh(): boolean; require(): Promise<void> | undefined } | undefined
  /** Checks the client, once the policy of the endpoint is current. */
  readonly admit: MiddlewareHandler<AppEnv>
}

/**
 * Waits until the state that a request reads is current, then admits its client. Fails with
 * `unavailable`. One middleware for both costs a read less than two.
 */
const requireFresh = ({ catchUp, freshness, admit }: RequireFreshDeps) =>
  createMiddleware<AppEnv>((c, next) => {
    if (needsNoStore(c.req.path)) return admit(c, next)
    const isStale = freshness !== undefined && !freshness.isFresh() && !servesStale(c.req)
    const waiting = isStale ? freshness.require() : catchUp()
    return waiting?.then(() => admit(c, next)) ?? admit(c, next)
  })

/** Returns whether a path works without the store: health checks, the style of error pages. */
const needsNoStore = (path: string) =>
  /^\/(?:_api\/health|healthz)(?:\/|$)/.test(path) || path === STYLE_PATH

/** Paths that may be served from stale state: the console, and lists in the memory of this node. */
const STALE_PATHS =
  /^\/(?:_console|_api\/(?:endpoint|listener|request|address|node|database|session|events|metrics|openapi\.json))(?:\/|$)/

/** Returns whether a request reads only data that may be stale. */
const servesStale = ({ method, path }: Pick<HonoRequest, 'method' | 'path'>) =>
  (method === 'GET' || method === 'HEAD') && STALE_PATHS.test(path)

type Fetch = Hono<AppEnv>['fetch']

/** Returns a `fetch` that logs each request with its status and duration at the level `debug`. */
const logRequests =
  (log: Logger, fetch: Fetch): Fetch =>
  (request, env) => {
    if (!log.isLevelEnabled('debug')) return fetch(request, env)
    const begun = performance.now()
    const logged = (response: Response) => {
      const { listener } = env as AppEnv['Bindings']
      const { method } = request
      const path = hideSecrets(splitRequestPath(request).path)
      const ms = Math.round((performance.now() - begun) * 1000) / 1000
      log.debug({ via: listener.name, method, path, status: response.status, ms }, 'request')
      return response
    }
    const response = fetch(request, env)
    return response instanceof Promise ? response.then(logged) : logged(response)
  }

/** Sets the headers of responses under `/_api`. */
const apiHeaders = createMiddleware<AppEnv>(async (c, next) => {
  c.header('Cache-Control', 'no-store')
  await next()
  // Hono sends JSON without a charset.
  if (c.res.headers.get('Content-Type') === 'application/json') {
    c.res.headers.set('Content-Type', API_JSON)
  }
})
