import { BlockList, isIP } from 'node:net'
import type { Asked } from './env.ts'

/** Who sent a request, and how it reached us: the nearest parts are ours to know. */
export interface Client {
  /** The IP address; null over a unix socket without a proxy. */
  readonly address: string | null
  /** Whether the client's own connection is encrypted. */
  readonly secure: boolean
  /** Host and port as the client asked for them. */
  readonly host: string
}

/** Tells the client of a request. */
export type ClientOf = (c: Asked) => Client

/**
 * Makes a {@link ClientOf}. Forwarded headers count only from a proxy on the list, and of
 * `X-Forwarded-For` only what trusted proxies have added: from the right, the first address that is
 * none of theirs. A unix socket's peer is trusted when the list is not empty.
 *
 * @param trusted addresses and CIDR ranges; see {@link badProxy}.
 */
export function createClientOf(trusted: readonly string[]): ClientOf {
  const list = blockList(trusted)
  const isTrusted = (address: string) => list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
  return (c) => {
    const socket = c.env.incoming?.socket
    const peer = plain(socket?.remoteAddress)
    const direct: Client = {
      address: peer,
      secure: c.env.via.address.scheme === 'ssl',
      host: c.req.header('Host') ?? '',
    }
    const viaUnix = c.env.via.address.scheme === 'unix' && trusted.length > 0
    if (trusted.length === 0 || !(peer === null ? viaUnix : isTrusted(peer))) return direct
    const hops = (c.req.header('X-Forwarded-For') ?? '').split(',').map((hop) => plain(hop.trim()))
    const client = hops.findLast((hop) => hop === null || !isTrusted(hop))
    return {
      address: client ?? peer,
      secure: (c.req.header('X-Forwarded-Proto') ?? '').trim() === 'https' || direct.secure,
      host: forwardedHost(c.req.header('X-Forwarded-Host')) ?? direct.host,
    }
  }
}

/** The host that the nearest proxy forwards; undefined where it is missing or is not a plain host. */
function forwardedHost(header: string | undefined): string | undefined {
  const host = header?.split(',').at(-1)?.trim()
  return host !== undefined && isPlainHost(host) ? host : undefined
}

/**
 * Whether a host is the same after parsing: `evil.com/.localhost` ends like a loopback name, but is a
 * host and a path.
 */
export const isPlainHost = (host: string): boolean => {
  const url = URL.parse(`http://${host}/`)
  // The parser drops the default port.
  return url !== null && url.host === host.toLowerCase().replace(/:80$/, '')
}

/** The first of the texts that is neither an IP address nor a CIDR range; undefined: all are. */
export function badProxy(texts: readonly string[]): string | undefined {
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

/** An IP address as we compare it (IPv4 mapped into IPv6 as IPv4); null for anything else. */
function plain(address: string | undefined): string | null {
  const text = address?.replace(/^::ffff:(?=[0-9.]+$)/i, '') ?? ''
  return isIP(text) === 0 ? null : text
}
