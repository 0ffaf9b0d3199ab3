import { createMiddleware } from 'hono/factory'
import { isIpLiteral, isLoopbackHost } from '../../contract/endpoints/address.ts'
import { Failure } from '../../failure.ts'
import type { AppEnv } from '../env.ts'
import type { ClientOf } from './client-address.ts'

/** Returns the host of a `Host` header (RFC 9110 §7.2) in lower case, without port and brackets. */
export function hostName(header: string | undefined): string {
  return (header ?? '')
    .toLowerCase()
    .replace(/:[0-9]*$/, '')
    .replace(/^\[(.*)\]$/, '$1')
}

/** Maximum number of cached headers; the cache is cleared when it is full. */
const MAX_CACHED = 100

// Caches headers that are allowed by every configuration. Requests with a session check the header
// each time, and the check takes four regular expressions.
const knownHosts = new Set<string>()

/** Maximum length of a host in a message, characters. */
export const SHOWN_HOST = 100

/** What the operator can do if a proxy replaces the host. */
export const PROXY_ADVICE =
  'If a proxy forwards the requests, it must keep the Host header, in nginx by ' +
  '"proxy_set_header Host $host;".'

/**
 * Checks that a browser may use the console under this `Host`: a loopback name, an IP address, or a
 * host that `isOwnHost` accepts (hosts of endpoints and of the public URL). This defends against DNS
 * rebinding, where a foreign page is same-origin to its browser.
 *
 * @throws Failure `misdirected`
 */
export function requireOwnHost(
  header: string,
  isOwnHost: (host: string) => boolean,
  publicOrigin: string | undefined,
): void {
  if (knownHosts.has(header)) return
  const host = hostName(header)
  if (isLoopbackHost(host) || isIpLiteral(host)) {
    if (knownHosts.size >= MAX_CACHED) knownHosts.clear()
    knownHosts.add(header)
    return
  }
  if (isOwnHost(host)) return
  throw new Failure(
    'misdirected',
    `The host ${header.slice(0, SHOWN_HOST)} does not belong to this server. ` +
      (publicOrigin === undefined
        ? 'Use an address of this machine, or set the host name with --public-url.'
        : `It expects ${new URL(publicOrigin).host}, the host of --public-url. ${PROXY_ADVICE}`),
  )
}

/**
 * Rejects requests for a foreign host with 421: those for the console and the sign-in pages. Data
 * is served under any host name; requests with a session cookie are checked in `require-role.ts`.
 */
export const guardHost = (
  isOwnHost: (host: string) => boolean,
  clientOf: ClientOf,
  publicOrigin: string | undefined,
) =>
  createMiddleware<AppEnv>((c, next) => {
    requireOwnHost(clientOf(c).host, isOwnHost, publicOrigin)
    return next()
  })
