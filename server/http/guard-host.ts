import { createMiddleware } from 'hono/factory'
import { isIpLiteral, isLoopbackHost } from '../contract/address.ts'
import { Failure } from '../failure.ts'
import type { AppEnv } from './env.ts'
import { splitRequestPath } from './request-path.ts'

const GUARDED = /^\/(?:_console|_oauth2|_idp)(?:\/|$)/

/** The host of a `Host` header (RFC 9110 §7.2): lower case, without port and brackets. */
export function hostName(header: string | undefined): string {
  return (header ?? '')
    .toLowerCase()
    .replace(/:[0-9]*$/, '')
    .replace(/^\[(.*)\]$/, '$1')
}

/** How many headers are remembered; then all are forgotten. */
const MOST_REMEMBERED = 100

// Headers whose host is ours whatever is configured: each request of a session asks, and it takes
// four regular expressions to find that out.
const alwaysOurs = new Set<string>()

/**
 * Whether a browser may be here under this `Host`: a loopback name, an IP address, or what `isOurs`
 * knows: the hosts of endpoints and of the public URL. A web page whose name was made to lead here
 * (DNS rebinding) is same-origin to its browser; the name that it asks for gives it away.
 *
 * @throws Failure `misdirected`
 */
export function requireOwnHost(header: string, isOurs: (host: string) => boolean): void {
  if (alwaysOurs.has(header)) return
  const host = hostName(header)
  if (isLoopbackHost(host) || isIpLiteral(host)) {
    if (alwaysOurs.size >= MOST_REMEMBERED) alwaysOurs.clear()
    alwaysOurs.add(header)
    return
  }
  if (isOurs(host)) return
  throw new Failure(
    'misdirected',
    'This server is not administered under that host name. Use an address of this machine, or ' +
      'name the host with --public-url.',
  )
}

/**
 * Refuses the console and the sign-in to a request for a foreign host, with 421. Data is reached by
 * any name; what is asked with a session's cookie is looked at in `permit.ts`.
 */
export const guardHost = (isOurs: (host: string) => boolean) =>
  createMiddleware<AppEnv>((c, next) => {
    const { path } = splitRequestPath(c.req.raw)
    if (GUARDED.test(path)) requireOwnHost(c.req.header('Host') ?? new URL(c.req.url).host, isOurs)
    return next()
  })
