import { Hono } from 'hono'
import { generateSpecs } from 'hono-openapi'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import { SYSTEM_DATABASE } from './contract/database.ts'
import type { DatabaseRegistry } from './databases/registry.ts'
import { databaseRoutes } from './databases/routes.ts'
import { addressRoutes, listenerRoutes } from './endpoints/listener-routes.ts'
import type { EndpointRegistry } from './endpoints/registry.ts'
import { endpointRoutes } from './endpoints/routes.ts'
import type { EventHub } from './events/hub.ts'
import { eventRoutes } from './events/routes.ts'
import type { Readiness } from './health/readiness.ts'
import { healthRoutes } from './health/routes.ts'
import { administration } from './http/administration.ts'
import { describe } from './http/describe.ts'
import type { AppEnv } from './http/env.ts'
import { guardHost } from './http/guard-host.ts'
import { noRoute } from './http/no-route.ts'
import { API_JSON, renderFailure, toFailure } from './http/render-failure.ts'
import { splitRequestPath } from './http/request-path.ts'
import { securityHeaders } from './http/security-headers.ts'
import { selectDatabase } from './http/select-database.ts'
import { consoleRoutes } from './http/serve-console.ts'

/** What the application is made of. */
export interface AppDeps {
  readonly endpoints: EndpointRegistry
  readonly databases: DatabaseRegistry
  readonly events: EventHub
  readonly metrics: Registry
  readonly readiness: Readiness
  readonly log: Logger
  /** The name of this node. */
  readonly node: string
  /** The origin under which people reach the server, where it was configured. */
  readonly publicOrigin: string | undefined
  /** The folder of the built console. */
  readonly consoleFolder: string
  /** Follows what another process has changed in the store, before a request is looked at. */
  readonly catchUp: () => Promise<void> | undefined
}

/** Makes the application: every route of every database, answering through any endpoint. */
export function createApp(deps: AppDeps) {
  const { endpoints, databases, log } = deps
  const admin = administration(deps.publicOrigin)
  const publicHost = deps.publicOrigin && new URL(deps.publicOrigin).hostname

  const isOurHost = (host: string) => host === publicHost || endpoints.hasHost(host)

  const base = new Hono<AppEnv>({ getPath: (request) => splitRequestPath(request).path })
  const app = base
    .use(async (c, next) => {
      await deps.catchUp()
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
    .use(securityHeaders)
    .use(guardHost(isOurHost))
    .use(selectDatabase((name) => databases.has(name)))
    .use('/_api/*', async (c, next) => {
      c.header('Cache-Control', 'no-store')
      await next()
      // Seed 000 asks for the charset, which hono leaves out.
      if (c.res.headers.get('Content-Type') === 'application/json') {
        c.res.headers.set('Content-Type', API_JSON)
      }
    })
    .route('/_api/endpoint', endpointRoutes(endpoints, admin))
    .route('/_api/listener', listenerRoutes(endpoints, deps.node, admin))
    .route('/_api/address', addressRoutes(admin))
    .route('/_api/database', databaseRoutes(databases, admin))
    .route('/_api/events', eventRoutes(deps.events, admin))
    .route('/_api/health', healthRoutes(deps.readiness))
    .get(
      '/_api/metrics',
      describe({ summary: 'Read the metrics', answers: { 200: 'text/plain' } }),
      admin,
      async (c) =>
        c.text(await deps.metrics.metrics(), 200, { 'Content-Type': deps.metrics.contentType }),
    )
    .get(
      '/_api/openapi.json',
      describe({ summary: 'Read this description', answers: { 200: 'application/json' } }),
      admin,
      async (c) => c.json(await openApi(base), 200),
    )
    .get('/', (c) => {
      const database = c.get('database')
      if (database === SYSTEM_DATABASE && c.env.via.loopback) return c.redirect('/_console/', 302)
      return c.json({ service: 'gatehouse', database }, 200)
    })

  base.get('/_console', (c) => c.redirect('/_console/', 308))
  base.route('/_console', consoleRoutes(deps.consoleFolder))

  base.notFound((c) => {
    throw noRoute(base, c.req.method, c.req.path)
  })
  base.onError((error, c) => {
    const failure = toFailure(error)
    if (failure.kind.status >= 500) log.error({ err: failure.cause ?? failure }, failure.message)
    return renderFailure(failure, c)
  })
  return app
}

/** The application's routes as types, for the console's client. */
export type Api = ReturnType<typeof createApp>

const openApi = (app: Hono<AppEnv>) =>
  generateSpecs(app, {
    documentation: {
      openapi: '3.1.0',
      info: {
        title: 'Gatehouse',
        version: '0.1',
        description: 'Every path also answers below /_db/<name>/, for the database of that name.',
      },
    },
    exclude: [/^\/_console/, '/'],
    // Else /_api/openapi.json would be taken for a file, for its dot.
    excludeStaticFile: false,
  })
