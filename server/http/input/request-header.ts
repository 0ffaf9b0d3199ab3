import type { RequestView } from '../env.ts'

/**
 * Returns a header of a request, for code that runs for every request: `c.req.header` searches and
 * checks all headers each time, which costs as much as routing the request.
 *
 * @param name not `authorization`: Node.js keeps only the first of several values.
 */
export function requestHeader(c: RequestView, name: Lowercase<string>): string | undefined {
  const { incoming } = c.env
  if (incoming === undefined) return c.req.header(name)
  const value = incoming.headers[name]
  return Array.isArray(value) ? value.join(', ') : value
}
