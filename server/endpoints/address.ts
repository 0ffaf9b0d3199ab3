import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { type Address, formatAddress, formatHost, parseAddress } from '../contract/address.ts'
import { Failure, systemCode } from '../failure.ts'

/**
 * Parses an address that somebody sent.
 *
 * @throws Failure `bad-parameter` with the sentence of `contract/address.ts`.
 */
export function readAddress(text: string, options?: { anyPort?: boolean }): Address {
  const parsed = parseAddress(text, options)
  if (!parsed.ok) throw new Failure('bad-parameter', parsed.fault)
  return parsed.address
}

/**
 * The canonical form of an address by which an endpoint may be known, or `undefined` where the text
 * is none: then no endpoint has it.
 */
export function canonicalAddress(text: string): string | undefined {
  const parsed = parseAddress(text)
  return parsed.ok ? formatAddress(parsed.address) : undefined
}

/**
 * Resolves a host for binding: an IP address is itself, of a name's addresses IPv4 comes first.
 *
 * @throws the resolver's error (`ENOTFOUND`, `EAI_AGAIN`); {@link bindingFailure} explains it.
 */
export async function resolveHost(host: string): Promise<{ ip: string; v6: boolean }> {
  const family = isIP(host)
  if (family !== 0) return { ip: host, v6: family === 6 }
  const found = await lookup(host, { order: 'ipv4first' })
  return { ip: found.address, v6: found.family === 6 }
}

/** Which sentence, and which failure, the system's refusal to bind an address becomes. */
export function bindingFailure(address: Address, cause: unknown): Failure {
  const code = systemCode(cause) ?? 'no code'
  const fail = (kind: 'bad-parameter' | 'conflict' | 'forbidden' | 'unavailable', text: string) =>
    new Failure(kind, `${text} (${code})`, { cause })
  if (code === 'EMFILE' || code === 'ENFILE') {
    return fail('unavailable', 'No more files can be opened here. Raise the limit on open files.')
  }
  if (address.scheme === 'unix') {
    if (code === 'EADDRINUSE') {
      return fail('conflict', `Another program listens on ${address.path}. Choose another path.`)
    }
    if (code === 'EEXIST') {
      return fail('conflict', `${address.path} exists and is no socket. Choose another path.`)
    }
    if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
      return fail(
        'forbidden',
        `The system does not let Gatehouse make a socket at ${address.path}.`,
      )
    }
    return fail('bad-parameter', `No socket can be made at ${address.path}. Does its folder exist?`)
  }
  const host = formatHost(address.host)
  const port = address.port
  switch (code) {
    case 'EADDRINUSE':
      return fail(
        'conflict',
        `Port ${port} on ${host} is taken by another program. Choose another, or stop that program.`,
      )
    case 'EACCES':
    case 'EPERM':
      return port < 1024
        ? fail(
            'forbidden',
            'Ports below 1024 need permission from the system. Choose 1024 or higher.',
          )
        : fail('forbidden', `The system does not let Gatehouse listen on port ${port}.`)
    case 'EADDRNOTAVAIL':
      return fail(
        'bad-parameter',
        `${host} is no address of this machine. Choose one from the list.`,
      )
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'ENODATA':
      return fail('bad-parameter', `The name ${host} leads to no address.`)
    default:
      return fail('bad-parameter', `${formatAddress(address)} cannot be listened on here.`)
  }
}
