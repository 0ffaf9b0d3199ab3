import { BlockList, isIP } from 'node:net'
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
 * @param trusted IP addresses and CIDR ranges; see {@link findInvalidProxy}.
 */
export function createClientOf(trusted: readonly string[]): ClientOf {
  const isTrusted = createProxyMatch(trusted)
  return (c) => {
    const socket = c.env.incoming?.socket
    const peer = withoutMapping(socket?.remoteAddress) ?? null
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

/** Returns a function that tells whether an address is that of a trusted proxy. */
export function createProxyMatch(trusted: readonly string[]): (address: string) => boolean {
  const list = blockList(trusted)
  return (text) => {
    const address = withoutMapping(text)
    return list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
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

/**
 * Returns the first text that is neither an IP address nor a CIDR range, or undefined if all are
 * valid.
 */
export function findInvalidProxy(texts: readonly string[]): string | undefined {
  return texts.find((text) => {
    try {
      blockList([text])
      return false
    } catch {
      return true
    }
  })
}

function blockList(ranges: readonly string[]): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [address = '', bits] = range.split('/')
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    if (bits === undefined) list.addAddress(address, family)
    else list.addSubnet(address, /^[0-9]+$/.test(bits) ? Number(bits) : -1, family)
  }
  return list
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

function withoutMapping(address: string): string
function withoutMapping(address: string | undefined): string | undefined
function withoutMapping(address: string | undefined): string | undefined {
  return address?.startsWith(':') ? address.replace(/^::ffff:(?=[0-9.]+$)/i, '') : address
}
