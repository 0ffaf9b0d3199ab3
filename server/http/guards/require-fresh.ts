import type { HonoRequest } from 'hono'
import { createMiddleware } from 'hono/factory'
import type { AppEnv } from '../env.ts'
import { STYLE_PATH } from '../static/sign-in-pages.ts'

export interface RequireFreshDeps {
  /**
   * Syncs changes made by another process, before each request. Returns undefined if there are
   * none.
   */
  readonly catchUp: () => Promise<void> | undefined
  /** Undefined with SQLite, where each request checks the store for changes. */
  readonly freshness: { isFresh(): boolean; require(): Promise<void> | undefined } | undefined
}

/** Waits until the state that a request reads is current. Fails with `unavailable`. */
export const requireFresh = ({ catchUp, freshness }: RequireFreshDeps) =>
  createMiddleware<AppEnv>((c, next) => {
    if (needsNoStore(c.req.path)) return next()
    const isStale = freshness !== undefined && !freshness.isFresh() && !servesStale(c.req)
    const waiting = isStale ? freshness.require() : catchUp()
    return waiting?.then(next) ?? next()
  })

/** Returns whether a path works without the store: health checks, the style of error pages. */
const needsNoStore = (path: string) =>
  /^\/(?:_api\/health|healthz)(?:\/|$)/.test(path) || path === STYLE_PATH

/** Paths that may be served from stale state: the console, and lists in the memory of this node. */
const STALE_PATHS =
  /^\/(?:_console|_api\/(?:endpoint|listener|address|node|database|session|events|metrics|openapi\.json))(?:\/|$)/

/** Returns whether a request reads only data that may be stale. */
const servesStale = ({ method, path }: Pick<HonoRequest, 'method' | 'path'>) =>
  (method === 'GET' || method === 'HEAD') && STALE_PATHS.test(path)
