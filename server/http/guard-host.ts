import { createMiddleware } from 'hono/factory'
import { isIpLiteral, isLoopbackHost } from '../contract/address.ts'
import { Failure } from '../failure.ts'
import type { AppEnv } from './env.ts'
import { splitRequestPath } from './request-path.ts'

const GUARDED = /^\/(?:_api|_console|_oauth2|_idp)(?:\/|$)/
const PUBLIC = /^\/_api\/health(?:\/|$)/

/** The host of a `Host` header (RFC 9110 §7.2): lower case, without port and brackets. */
export function hostName(header: string | undefined): string {
  return (header ?? '')
    .toLowerCase()
    .replace(/:[0-9]*$/, '')
    .replace(/^\[(.*)\]$/, '$1')
}

/**
 * Refuses the administration to a request for a foreign host, with 421. A web page whose name was
 * made to lead here (DNS rebinding) is same-origin to its browser; the name it asks for gives it
 * away. Allowed are loopback names, IP addresses, and what `isOurs` knows: the hosts of endpoints
 * and of the public URL. Data is reached by any name.
 */
export const guardHost = (isOurs: (host: string) => boolean) =>
  createMiddleware<AppEnv>(async (c, next) => {
    const { path } = splitRequestPath(c.req.raw)
    if (GUARDED.test(path) && !PUBLIC.test(path)) {
      const host = hostName(c.req.header('Host') ?? new URL(c.req.url).host)
      if (!isLoopbackHost(host) && !isIpLiteral(host) && !isOurs(host)) {
        throw new Failure(
          'misdirected',
          'This server does not administer itself under that host name. Use an address of this ' +
            'machine, or name the host with --public-url.',
        )
      }
    }
    await next()
  })
