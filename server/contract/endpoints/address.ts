import { invariant } from '../invariant.ts'
/**
 * A parsed endpoint address. `host` is lower-case and without brackets: a dotted quad, a compressed
 * IPv6 address (RFC 5952) or a name. A link-local IPv6 address keeps its zone as written, as in
 * `fe80::1%eth0` (RFC 4007 §11). `path` is absolute and normalized.
 */
export type Address =
  | { readonly scheme: 'tcp' | 'ssl'; readonly host: string; readonly port: number }
  | { readonly scheme: 'unix'; readonly path: string }

/** The part of an address that an error refers to; forms show the error at that field. */
export type AddressPart = 'scheme' | 'host' | 'port' | 'path'

/** The address, or the invalid part and a message. */
export type ParsedAddress =
  | { readonly ok: true; readonly address: Address }
  | { readonly ok: false; readonly part: AddressPart; readonly message: string }

/**
 * Maximum length of a unix socket path, bytes: `sun_path` has 108 including the terminating zero
 * (unix(7)).
 */
export const UNIX_PATH_BYTES = 107

/** Maximum length of an address, in characters. */
const ADDRESS_LENGTH = 1_024

const invalid = (part: AddressPart, text: string): ParsedAddress => ({
  ok: false,
  part,
  message: text,
})

/**
 * Parses `tcp://host:port`, `ssl://host:port` or `unix:///path`. Never throws.
 * {@link formatAddress} prints every accepted address in one canonical form, which parses to the
 * same address.
 *
 * `anyPort` accepts port 0 (any free port), for servers started by tests.
 */
export function parseAddress(text: string, { anyPort = false } = {}): ParsedAddress {
  if (text.length > ADDRESS_LENGTH) {
    return invalid('host', 'An address can have at most 1,024 characters.')
  }
  const match = /^([A-Za-z][A-Za-z0-9+.-]*):\/\/(.*)$/s.exec(text)
  if (match === null) {
    return invalid(
      'scheme',
      'Enter an address such as tcp://host:port, ssl://host:port or unix:///path.',
    )
  }
  const [, given, rest] = match
  invariant(given !== undefined && rest !== undefined, 'both groups take part in a match')
  const scheme = given.toLowerCase()
  if (scheme === 'unix') return parsePath(rest)
  if (scheme === 'tcp' || scheme === 'ssl') return parseHostAndPort(scheme, rest, anyPort)
  return invalid('scheme', `Unknown scheme ${JSON.stringify(given)}. Use tcp, ssl or unix.`)
}

/** Formats an address in canonical form. Addresses are stored and compared in this form. */
export function formatAddress(address: Address): string {
  if (address.scheme === 'unix') return `unix://${address.path}`
  return `${address.scheme}://${formatHost(address.host)}:${address.port}`
}

/** Formats a host for an address or URL: IPv6 in brackets (RFC 3986 §3.2.2). */
export const formatHost = (host: string): string => (host.includes(':') ? `[${host}]` : host)

/**
 * Returns whether only this machine can reach the address: a unix socket, 127.0.0.0/8, ::1, or the
 * name `localhost` and names below it (RFC 6761 §6.3). A wildcard is not loopback.
 */
export function isLoopback(address: Address): boolean {
  return address.scheme === 'unix' || isLoopbackHost(address.host)
}

/** {@link isLoopback} for a host in lower case and without brackets. */
export function isLoopbackHost(host: string): boolean {
  if (host === '::1' || host === 'localhost' || host.endsWith('.localhost')) return true
  return host.startsWith('127.') && isDottedQuad(host)
}

/** Returns whether the address is a wildcard: `0.0.0.0` or `[::]`. */
export const isWildcard = (address: Address): boolean =>
  address.scheme !== 'unix' && (address.host === '0.0.0.0' || address.host === '::')

/** Returns whether a compressed IPv6 address is link-local (fe80::/10). */
export const isLinkLocal = (host: string): boolean => /^fe[89ab][0-9a-f]:/.test(host)

/** Returns whether a host, as in {@link Address}, is an IP address rather than a name. */
export const isIpLiteral = (host: string): boolean => host.includes(':') || isDottedQuad(host)

function parseHostAndPort(scheme: 'tcp' | 'ssl', rest: string, anyPort: boolean): ParsedAddress {
  const stray = /[/?#@\\\s]/.exec(rest)
  if (stray !== null) {
    const what = stray[0].trim() === '' ? 'a space' : `“${stray[0]}”`
    return invalid(
      'host',
      `A ${scheme} address consists of a host and a port and cannot contain ${what}.`,
    )
  }
  // Only a bracketed host may contain colons.
  const match = /^(\[[^\]]*\]|[^:[\]]*)(?::([^:]*))?$/.exec(rest)
  if (match === null) {
    return invalid('host', 'Put an IPv6 address in brackets, as in tcp://[::1]:8530.')
  }
  const [, given, digits] = match
  invariant(given !== undefined, 'the group takes part in a match')
  const host = parseHost(given)
  if (!host.ok) return invalid('host', host.message)
  if (digits === undefined || digits === '') {
    return invalid('port', 'The port is missing. Add one, as in tcp://127.0.0.1:8530.')
  }
  const port = /^[0-9]{1,5}$/.test(digits) ? Number(digits) : Number.NaN
  const lowest = anyPort ? 0 : 1
  if (!(port >= lowest && port <= 65535) || String(port) !== digits) {
    return invalid('port', 'The port must be a whole number from 1 to 65535.')
  }
  return { ok: true, address: { scheme, host: host.host, port } }
}

type ParsedHost = { ok: true; host: string } | { ok: false; message: string }

function parseHost(text: string): ParsedHost {
  const invalidHost = (reason: string): ParsedHost => ({ ok: false, message: reason })
  if (text === '')
    return invalidHost(
      'The host is missing. Use 127.0.0.1 to accept connections from this machine only.',
    )
  if (text === '*') return invalidHost('Use 0.0.0.0 or [::] for all addresses of this machine.')
  if (text.startsWith('[')) return parseIpv6(text.slice(1, -1))
  // Before lower-casing, which would replace the Kelvin sign by a k.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range is all of ASCII
  if (/[^\x00-\x7f]/.test(text))
    return invalidHost('Use the xn-- form of an international host name.')
  const host = text.toLowerCase()
  if (isDottedQuad(host)) return { ok: true, host }
  const labels = host.split('.')
  // The system also accepts 127.1, 0x7f.1 and 2130706433 as addresses (inet_aton(3)). A host that
  // ends in a number must be a dotted quad, so that each address has a single spelling.
  if (/^(?:[0-9]+|0x[0-9a-f]*)$/.test(host.slice(host.lastIndexOf('.') + 1))) {
    return invalidHost(
      `“${text}” is not an IPv4 address. Use four numbers from 0 to 255, as in 127.0.0.1.`,
    )
  }
  if (host.length > 253 || !labels.every((label) => NAME_LABEL.test(label))) {
    return invalidHost(`“${text}” is not a host name. Use letters, digits, “-” and “.”.`)
  }
  return { ok: true, host }
}

// RFC 1123 §2.1, and the underscore that container networks use.
const NAME_LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/

const IPV4 = /^(?:(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])(?:\.(?!$)|$)){4}$/
const isDottedQuad = (host: string): boolean => IPV4.test(host)

/**
 * The name of a network interface, at most 15 characters (Linux, IFNAMSIZ), or its number. `25eth0`
 * is rejected as a percent-encoded `%eth0` (RFC 6874): an address has one spelling.
 */
const ZONE = /^(?!25[A-Za-z])[A-Za-z0-9._-]{1,15}$/

function parseIpv6(text: string): ParsedHost {
  const at = text.indexOf('%')
  const host = compressIpv6(at < 0 ? text : text.slice(0, at))
  if (host === undefined) return { ok: false, message: `[${text}] is not an IPv6 address.` }
  if (at < 0) return { ok: true, host }
  const zone = text.slice(at + 1)
  if (!ZONE.test(zone)) {
    return {
      ok: false,
      message: 'Enter the name of a network interface after “%”, as in fe80::1%eth0.',
    }
  }
  if (!isLinkLocal(host)) {
    return {
      ok: false,
      message: 'Only link-local addresses (fe80::) can have an interface after “%”.',
    }
  }
  return { ok: true, host: `${host}%${zone}` }
}

/** Returns the RFC 5952 form of an IPv6 address, made by the URL parser (WHATWG). */
function compressIpv6(text: string): string | undefined {
  if (!/^[0-9A-Fa-f:.]+$/.test(text) || !URL.canParse(`http://[${text}]`)) return undefined
  return new URL(`http://[${text}]`).hostname.slice(1, -1)
}

function parsePath(path: string): ParsedAddress {
  if (!path.startsWith('/')) {
    return invalid(
      'path',
      'The path of a Unix socket must be absolute, as in unix:///run/gatehouse.sock.',
    )
  }
  // Line breaks and bidirectional controls would make the displayed path misleading.
  if (
    /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u.test(path) ||
    !path.isWellFormed() ||
    path.trim() !== path
  ) {
    return invalid(
      'path',
      'The path contains a character that is not allowed in the name of a socket.',
    )
  }
  if (/\/(?:\.{0,2})$/.test(path))
    return invalid('path', 'The path must end with the name of a socket, not with a folder.')
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  const normal = `/${parts.join('/')}`
  const bytes = new TextEncoder().encode(normal).length
  if (bytes > UNIX_PATH_BYTES) {
    return invalid(
      'path',
      `The path has ${bytes} bytes. The operating system allows at most ${UNIX_PATH_BYTES}.`,
    )
  }
  return { ok: true, address: { scheme: 'unix', path: normal } }
}
