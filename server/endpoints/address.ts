import dns from 'node:dns/promises'
import { BlockList, isIP, type ListenOptions, type Server } from 'node:net'
import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os'
import {
  type Address,
  formatAddress,
  formatHost,
  isLinkLocal,
  isLoopbackHost,
  parseAddress,
} from '../contract/endpoints/address.ts'
import { Failure, isFileLimit, systemCode } from '../failure.ts'

/**
 * Parses an address from a request.
 *
 * @throws Failure `bad-parameter` for the field `/endpoint`.
 */
export function readAddress(text: string, options?: { anyPort?: boolean }): Address {
  const parsed = parseAddress(text, options)
  if (!parsed.ok) throw new Failure('bad-parameter', parsed.message, { field: '/endpoint' })
  return parsed.address
}

/** Returns the canonical form of an address, or `undefined` if the text is not an address. */
export function canonicalAddress(text: string): string | undefined {
  const parsed = parseAddress(text)
  return parsed.ok ? formatAddress(parsed.address) : undefined
}

/**
 * Resolves a host name for binding. An IP address is returned unchanged; IPv4 addresses of a name
 * are preferred.
 *
 * @throws the resolver's error (`ENOTFOUND`, `EAI_AGAIN`), or `EADDRNOTAVAIL` for an address without
 * connections; {@link bindingFailure} translates it. Failure `bad-parameter` for `localhost` and names
 * below it if they are not loopback: the server and the console rely on that (`isLoopback`).
 */
export async function resolveHost(host: string): Promise<{ ip: string; v6: boolean }> {
  const { address: ip, family } =
    isIP(host) === 0
      ? await dns.lookup(host, { order: 'ipv4first' })
      : { address: host, family: isIP(host) }
  if (family === 4 && (MULTICAST.check(ip) || isBroadcast(ip, ownAddresses))) {
    throw Object.assign(new Error(`no client can connect to ${ip}`), { code: 'EADDRNOTAVAIL' })
  }
  if (isLoopbackHost(host) && !isLoopbackHost(ip)) {
    throw new Failure(
      'bad-parameter',
      `${host} resolves to ${ip} on this machine, which is not a loopback address. Use the IP address.`,
    )
  }
  return { ip, v6: family === 6 }
}

/** IPv4 multicast (RFC 1112). */
const MULTICAST = new BlockList()
MULTICAST.addSubnet('224.0.0.0', 4)

const ownAddresses = () => Object.values(networkInterfaces()).flatMap((addresses = []) => addresses)

/**
 * Returns whether an IPv4 address is the broadcast address of a network of this machine, or that of
 * any network. Linux lets a socket listen on it, but no client can connect.
 *
 * @param own returns the addresses of this machine. Called only for an address that ends like a
 * broadcast address, because listing them would slow down a start with many endpoints.
 */
export function isBroadcast(
  ip: string,
  own: () => readonly Pick<NetworkInterfaceInfo, 'address' | 'netmask' | 'family'>[],
): boolean {
  const number = numberOf(ip)
  // A network of one or two addresses has no broadcast address (RFC 3021).
  if ((number & 3) !== 3) return false
  if (number === 0xffff_ffff) return true
  return own().some(({ address, netmask, family }) => {
    if (family !== 'IPv4') return false
    const mask = numberOf(netmask)
    return ~mask >>> 0 > 1 && number === (numberOf(address) | ~mask) >>> 0
  })
}

const numberOf = (ip: string) =>
  ip.split('.').reduce((number, octet) => number * 256 + Number(octet), 0)

/** Translates a system error from binding an address into a Failure. */
export function bindingFailure(address: Address, cause: unknown): Failure {
  const code = systemCode(cause)
  const fail = (kind: 'bad-parameter' | 'conflict' | 'forbidden' | 'unavailable', text: string) =>
    new Failure(kind, `${text} (${code ?? 'no code'})`, { cause, systemCode: code })
  if (isFileLimit(cause)) {
    return fail('unavailable', 'The limit on open files is reached. Raise it.')
  }
  if (address.scheme === 'unix') {
    if (code === 'EADDRINUSE') {
      return fail('conflict', `Another program listens on ${address.path}. Choose another path.`)
    }
    if (code === 'EEXIST') {
      return fail('conflict', `${address.path} exists and is not a socket. Choose another path.`)
    }
    if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
      return fail(
        'forbidden',
        `Gatehouse does not have permission to create a socket at ${address.path}.`,
      )
    }
    return fail(
      'bad-parameter',
      `The socket ${address.path} cannot be created. Check that its folder exists.`,
    )
  }
  const host = formatHost(address.host)
  const port = address.port
  switch (code) {
    case 'EADDRINUSE':
      return fail('conflict', `Port ${port} on ${host} is used by another program.`)
    case 'EACCES':
    case 'EPERM':
      return port < 1024
        ? fail('forbidden', 'Ports below 1024 require a system permission. Choose 1024 or higher.')
        : fail('forbidden', `Gatehouse does not have permission to listen on port ${port}.`)
    case 'EADDRNOTAVAIL':
      return fail(
        'bad-parameter',
        `${host} is not an address of this machine. Choose one of its addresses.`,
      )
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'ENODATA':
    case 'ETIMEDOUT':
      return fail('bad-parameter', `The host name ${host} cannot be resolved.`)
    default:
      return fail(
        'bad-parameter',
        linkLocalReason(address.host) ??
          `${formatAddress(address)} cannot be opened on this machine.`,
      )
  }
}

/** Returns why a link-local address cannot be bound, or `undefined` for other hosts. */
function linkLocalReason(host: string): string | undefined {
  if (!isLinkLocal(host)) return undefined
  const zone = host.split('%')[1]
  if (zone === undefined)
    return `Add the interface to this link-local address, as in [${host}%eth0].`
  return `This machine has no interface ${zone}, or the interface does not support IPv6.`
}

// Per process: all endpoints share one set of ports.
const locked = createKeyedLock()

/**
 * Opens a server's socket. Binds of the same port run one after the other, so that an address
 * check, which holds the port briefly, does not make an endpoint fail.
 *
 * @param checked called once the socket is open, under the lock.
 * @throws the system's error, such as `EADDRINUSE`.
 */
export function bind(
  server: Server,
  where: ListenOptions,
  checked?: () => Promise<void>,
): Promise<void> {
  return locked(String(where.port ?? where.path), async () => {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen({ ...where, exclusive: true }, () => {
        server.off('error', reject)
        resolve()
      })
    })
    await checked?.()
  })
}

/** Runs `task` after all earlier tasks with the same key; different keys run concurrently. */
export type KeyedLock = <T>(key: string, task: () => Promise<T>) => Promise<T>

export function createKeyedLock(): KeyedLock {
  const tails = new Map<string, Promise<unknown>>()
  return (key, task) => {
    const result = (tails.get(key) ?? Promise.resolve()).then(task)
    const tail = result
      .catch(() => {})
      .then(() => {
        if (tails.get(key) === tail) tails.delete(key)
      })
    tails.set(key, tail)
    return result
  }
}
