import type { Context } from 'hono'
import { createMiddleware } from 'hono/factory'
import type { AppEnv } from './env.ts'

/** Bodies of these types are never measured: a stream may have no end. */
const STREAM = /^(?:text\/event-stream|application\/x-ndjson|text\/csv)/

/**
 * Gives the answer to a `HEAD` the Content-Length of the body that a `GET` would get (RFC 9110
 * §9.3.2). Hono answers `HEAD` by the route of `GET` and drops the body.
 */
export const measureHead = createMiddleware<AppEnv>((c, next) =>
  c.req.raw.method === 'HEAD' ? next().then(() => measure(c)) : next(),
)

async function measure(c: Context<AppEnv>): Promise<void> {
  const { status, headers } = c.res
  if (status === 204 || status === 304 || headers.has('Content-Length')) return
  if (STREAM.test(headers.get('Content-Type') ?? '')) return c.res.body?.cancel()
  const { byteLength } = await c.res.arrayBuffer()
  c.res = new Response(null, { status, headers })
  c.res.headers.set('Content-Length', String(byteLength))
}
