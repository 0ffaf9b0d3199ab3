import type { Context } from 'hono'
import type { AppEnv } from '../env.ts'
import { searchParameters } from '../input/url.ts'

/** Returns the path as requested, including the prefix that names the database. */
export function requestedPath(c: Context<AppEnv>): string {
  const { url } = c.req
  const begin = url.indexOf('/', url.indexOf('://') + 3)
  const end = url.slice(begin).search(/[?#]/)
  return url.slice(begin, end === -1 ? undefined : begin + end).replace(/\/$/, '')
}

/**
 * Returns a `Link` to the next page (RFC 8288): the request with this query parameter.
 *
 * @param parameters those of the request by default.
 */
export function nextLink(
  c: Context<AppEnv>,
  [name, value]: readonly [name: string, value: string],
  parameters: URLSearchParams = searchParameters(c),
): string {
  const next = new URLSearchParams(parameters)
  next.set(name, value)
  return `<${requestedPath(c)}?${next}>; rel="next"`
}
