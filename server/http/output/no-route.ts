import type { Hono } from 'hono'
import { METHOD_NAME_ALL } from 'hono/router'
import { tryDecode } from 'hono/utils/url'
import { isCollectionName } from '../../contract/document.ts'
import { Failure } from '../../failure.ts'
import type { AppEnv } from '../env.ts'
import { notCollectionName } from '../input/url.ts'

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/**
 * Returns the failure of a request without a route: `method-not-allowed` with `Allow` (RFC 9110
 * §15.5.6) if the path exists under another method, otherwise `not-found`.
 */
export function noRoute(app: Hono<AppEnv>, method: string, path: string): Failure {
  const allowed: string[] = methodsOf(app, path)
  const withoutSlash: string[] = path.endsWith('/') ? methodsOf(app, path.slice(0, -1)) : []
  if (withoutSlash.includes(method)) return trailingSlash()
  if (allowed.length === 0) return withoutSlash.length > 0 ? trailingSlash() : noPath(path)
  if (allowed[0] === 'GET') allowed.splice(1, 0, 'HEAD')
  const methods = allowed.join(', ')
  const advice = method === 'OPTIONS' ? ` ${CORS_ADVICE}` : ''
  return new Failure(
    'method-not-allowed',
    `${method} is not supported here. Use ${methods}.${advice}`,
    { headers: { Allow: methods } },
  )
}

/** Added for browsers, which send `OPTIONS` before a request of a page of another origin. */
const CORS_ADVICE =
  'Pages of other origins need a policy of the endpoint with their origin in cors.'

/** Returns the failure of a path that exists without the slash at its end. */
export const trailingSlash = (): Failure =>
  new Failure('not-found', 'There is no such path. Remove the slash at its end.')

/** Returns the methods of a path. */
const methodsOf = (app: Hono<AppEnv>, path: string) =>
  METHODS.filter((method) =>
    app.router
      .match(method, path)[0]
      // Middleware is registered for all methods, a handler for one.
      .some(([[, route]]) => route.method !== METHOD_NAME_ALL),
  )

/** Matches the paths of collections, and of their documents, indexes and schemas. */
const COLLECTION_PATH = /^\/(?:_(?:index|schema)\/)?([^/_][^/]*)(?:\/[^/]+)?$/

function noPath(path: string): Failure {
  const [, name] = COLLECTION_PATH.exec(path) ?? []
  if (name !== undefined && !isCollectionName(name))
    return notCollectionName(tryDecode(name, decodeURIComponent))
  return new Failure('not-found', 'There is no such path.')
}
