import { isIP } from 'node:net'
import { createRangeMatch, withoutMapping } from '../../ip-ranges.ts'
import type { RequestView } from '../env.ts'
import { requestHeader } from '../input/headers.ts'

/** The client of a request. */
export interface Client {
  /** The IP address; null over a Unix socket without a proxy. */
  readonly address: string | null
  /** Whether the client's own connection is encrypted. */
  readonly secure: boolean
  /** The host and port that the client addressed. */
  readonly host: string
}

/** Returns the client of a request. */
export type ClientOf = (c: RequestView) => Client

/**
 * Returns a function that determines the client of a request. Forwarded headers count only when a
 * trusted proxy sends them. The client address is the rightmost entry of `X-Forwarded-For` that is
 * not a trusted proxy; if that entry is not an IP address, it is the peer's. The peer of a Unix
 * socket is trusted when the list is not empty.
 *
 * @param trusted IP addresses and CIDR ranges; see `isIpRange`.
 */
export function createClientOf(trusted: readonly string[]): ClientOf {
  const isTrusted = createRangeMatch(trusted)
  return (c) => {
    const socket = c.env.incoming?.socket
    const remote = socket?.remoteAddress
    const peer = remote === undefined ? null : withoutMapping(remote)
    const direct: Client = {
      address: peer,
      secure: c.env.listener.address.scheme === 'ssl',
      host: targetHost(c.env.incoming?.url) ?? requestHeader(c, 'host') ?? '',
    }
    const viaUnix = c.env.listener.address.scheme === 'unix' && trusted.length > 0
    if (trusted.length === 0 || !(peer === null ? viaUnix : isTrusted(peer))) return direct
    // Each proxy appends an entry to a list, so that of the nearest one is last.
    const last = (name: string) => c.req.header(name)?.split(',').at(-1)?.trim()
    const hops = (c.req.header('X-Forwarded-For') ?? '')
      .split(',')
      .map((hop) => normalizeAddress(hop.trim()))
    const client = hops.findLast((hop) => hop === null || !isTrusted(hop))
    return {
      address: client ?? peer,
      secure: last('X-Forwarded-Proto') === 'https' || direct.secure,
      host: plainHost(last('X-Forwarded-Host')) ?? direct.host,
    }
  }
}

/** Returns the host of a target in absolute form, which precedes `Host` (RFC 9112 §3.2.2). */
const targetHost = (target: string | undefined): string | undefined =>
  target === undefined || target.startsWith('/') ? undefined : URL.parse(target)?.host

/** Returns a forwarded host, or undefined if it is missing or malformed. */
const plainHost = (host: string | undefined): string | undefined =>
  host !== undefined && isPlainHost(host) ? host : undefined

/**
 * Returns whether a host is unchanged by parsing. `evil.com/.localhost` ends like a loopback name,
 * but parses as a host and a path.
 */
export const isPlainHost = (host: string): boolean => {
  const url = URL.parse(`http://${host}/`)
  // The parser drops the default port.
  return url !== null && url.host === host.toLowerCase().replace(/:80$/, '')
}

/** Matches an address with a port, as some proxies forward it: `192.0.2.1:80`, `[2001:db8::1]:80`. */
const WITH_PORT = /^(?:([0-9.]+)|\[([0-9A-Fa-f:.]+)\])(?::[0-9]{1,5})?$/

/**
 * Returns an IP address without its port, as IPv4 if it is an IPv4-mapped IPv6 address; null for
 * anything else.
 */
function normalizeAddress(address: string): string | null {
  const [, v4, v6] = WITH_PORT.exec(address) ?? []
  const text = withoutMapping(v4 ?? v6 ?? address)
  return isIP(text) === 0 ? null : text
}
