import type { Hono } from 'hono'
import { METHOD_NAME_ALL } from 'hono/router'
import { Failure } from '../../failure.ts'
import type { AppEnv } from '../env.ts'

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/**
 * Returns the failure of a request without a route: `method-not-allowed` with `Allow` (RFC 9110
 * §15.5.6) if the path exists under another method, otherwise `not-found`.
 */
export function noRoute(app: Hono<AppEnv>, method: string, path: string): Failure {
  const allowed: string[] = METHODS.filter((other) =>
    app.router
      .match(other, path)[0]
      // Middleware is registered for all methods, a handler for one.
      .some(([[, route]]) => route.method !== METHOD_NAME_ALL),
  )
  if (allowed.length === 0) return new Failure('not-found', 'There is no such path.')
  if (allowed[0] === 'GET') allowed.splice(1, 0, 'HEAD')
  return new Failure(
    'method-not-allowed',
    `${method} is not supported here. Use ${allowed.join(', ')}.`,
    { headers: { Allow: allowed.join(', ') } },
  )
}
