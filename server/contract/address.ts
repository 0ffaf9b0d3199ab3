/**
 * The address of an endpoint, parsed. `host` is lower-case and without brackets: a dotted quad, a
 * compressed IPv6 address (RFC 5952) or a name. `path` is absolute and normalised.
 */
export type Address =
  | { readonly scheme: 'tcp' | 'ssl'; readonly host: string; readonly port: number }
  | { readonly scheme: 'unix'; readonly path: string }

/** The part of an address that a fault belongs to, so that a form can show it there. */
export type AddressPart = 'scheme' | 'host' | 'port' | 'path'

/** What {@link parseAddress} answers: the address, or what is wrong with which part of it. */
export type ParsedAddress =
  | { readonly ok: true; readonly address: Address }
  | { readonly ok: false; readonly part: AddressPart; readonly fault: string }

/** The longest path of a unix socket in bytes: `sun_path` has 108 with its closing zero (unix(7)). */
export const UNIX_PATH_BYTES = 107

/** The longest text that is parsed as an address, in characters. */
export const ADDRESS_LENGTH = 1_024

const fault = (part: AddressPart, text: string): ParsedAddress => ({ ok: false, part, fault: text })

/**
 * Parses `tcp://host:port`, `ssl://host:port` or `unix:///path`. Never throws. Whatever it accepts,
 * {@link formatAddress} prints in one canonical form, and that form parses to the same address.
 *
 * `anyPort` lets port 0 through ("choose a free one"), for servers started by tests.
 */
export function parseAddress(text: string, { anyPort = false } = {}): ParsedAddress {
  if (text.length > ADDRESS_LENGTH) {
    return fault('host', 'An address has at most 1,024 characters.')
  }
  const match = /^([A-Za-z][A-Za-z0-9+.-]*):\/\/(.*)$/s.exec(text)
  if (match === null) {
    return fault(
      'scheme',
      'An address is written tcp://host:port, ssl://host:port or unix:///path.',
    )
  }
  const scheme = match[1]?.toLowerCase()
  const rest = match[2] ?? ''
  if (scheme === 'unix') return parsePath(rest)
  if (scheme === 'tcp' || scheme === 'ssl') return parseHostAndPort(scheme, rest, anyPort)
  return fault('scheme', `There is no scheme ${JSON.stringify(match[1])}. Use tcp, ssl or unix.`)
}

/** Prints an address in its canonical form: the one it is stored, compared and removed under. */
export function formatAddress(address: Address): string {
  if (address.scheme === 'unix') return `unix://${address.path}`
  return `${address.scheme}://${formatHost(address.host)}:${address.port}`
}

/** Prints a host as it stands in an address or URL: IPv6 in brackets (RFC 3986 §3.2.2). */
export const formatHost = (host: string): string => (host.includes(':') ? `[${host}]` : host)

/**
 * Whether only this machine can reach the address: a unix socket, 127.0.0.0/8, ::1, or the name
 * `localhost` and the names below it (RFC 6761 §6.3). A wildcard is not loopback.
 */
export function isLoopback(address: Address): boolean {
  return address.scheme === 'unix' || isLoopbackHost(address.host)
}

/** {@link isLoopback} of a host by itself, without brackets, in lower case. */
export function isLoopbackHost(host: string): boolean {
  if (host === '::1' || host === 'localhost' || host.endsWith('.localhost')) return true
  return host.startsWith('127.') && isDottedQuad(host)
}

/** Whether the address stands for every address of this machine: `0.0.0.0` or `[::]`. */
export const isWildcard = (address: Address): boolean =>
  address.scheme !== 'unix' && (address.host === '0.0.0.0' || address.host === '::')

/** Whether a host is an IP address rather than a name; in the form that {@link Address} keeps. */
export const isIpLiteral = (host: string): boolean => host.includes(':') || isDottedQuad(host)

function parseHostAndPort(scheme: 'tcp' | 'ssl', rest: string, anyPort: boolean): ParsedAddress {
  const stray = /[/?#@\\\s]/.exec(rest)
  if (stray !== null) {
    const what = stray[0].trim() === '' ? 'a space' : `“${stray[0]}”`
    return fault(
      'host',
      `A ${scheme} address is a host and a port alone; ${what} has no place in it.`,
    )
  }
  // A bracketed host may hold colons; any other has none, so the last colon is not searched for.
  const match = /^(\[[^\]]*\]|[^:[\]]*)(?::([^:]*))?$/.exec(rest)
  if (match === null) {
    return fault('host', 'An IPv6 address stands in brackets, as in tcp://[::1]:8530.')
  }
  const host = parseHost(match[1] ?? '')
  if (!host.ok) return fault('host', host.fault)
  const digits = match[2]
  if (digits === undefined || digits === '') {
    return fault('port', 'The port is missing. Add one, as in tcp://127.0.0.1:8530.')
  }
  const port = /^[0-9]{1,5}$/.test(digits) ? Number(digits) : Number.NaN
  const lowest = anyPort ? 0 : 1
  if (!(port >= lowest && port <= 65535) || String(port) !== digits) {
    return fault('port', 'A port is a whole number from 1 to 65535.')
  }
  return { ok: true, address: { scheme, host: host.host, port } }
}

type ParsedHost = { ok: true; host: string } | { ok: false; fault: string }

function parseHost(text: string): ParsedHost {
  const no = (reason: string): ParsedHost => ({ ok: false, fault: reason })
  if (text === '') return no('The host is missing. Use 127.0.0.1 for this machine only.')
  if (text === '*') return no('Write 0.0.0.0 or [::] for every address of this machine.')
  if (text.startsWith('[')) {
    const host = compressIpv6(text)
    return host === undefined ? no(`${text} is no IPv6 address.`) : { ok: true, host }
  }
  // Before letters are made small: that would turn the Kelvin sign into a k.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the whole of ASCII is what is meant
  if (/[^\x00-\x7f]/.test(text)) return no('Write an international host name in its xn-- form.')
  const host = text.toLowerCase()
  if (isDottedQuad(host)) return { ok: true, host }
  const labels = host.split('.')
  // The system would take 127.1, 0x7f.1 and 2130706433 for addresses too (inet_aton(3)): two ways
  // of writing one address would be two endpoints, so whatever ends in a number must be a quad.
  if (/^(?:[0-9]+|0x[0-9a-f]*)$/.test(labels.at(-1) ?? '')) {
    return no(`“${text}” is no IPv4 address. Write four numbers from 0 to 255, as in 127.0.0.1.`)
  }
  if (host.length > 253 || !labels.every((label) => NAME_LABEL.test(label))) {
    return no(`“${text}” is no host name. Letters, digits, “-” and “.” make one.`)
  }
  return { ok: true, host }
}

// RFC 1123 §2.1, and the underscore that container networks use.
const NAME_LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/

const QUAD = /^(?:(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])(?:\.(?!$)|$)){4}$/
const isDottedQuad = (host: string): boolean => QUAD.test(host)

/** RFC 5952 form of `[…]`, without the brackets; the URL parser (WHATWG) knows how to make it. */
function compressIpv6(bracketed: string): string | undefined {
  if (!/^\[[0-9A-Fa-f:.]+\]$/.test(bracketed) || !URL.canParse(`http://${bracketed}`))
    return undefined
  return new URL(`http://${bracketed}`).hostname.slice(1, -1)
}

function parsePath(path: string): ParsedAddress {
  if (!path.startsWith('/')) {
    return fault('path', 'The path of a unix socket is absolute: unix:///run/gatehouse.sock.')
  }
  // What breaks a line or turns its direction would show another address than the one that is meant.
  if (
    /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u.test(path) ||
    !path.isWellFormed() ||
    path.trim() !== path
  ) {
    return fault('path', 'The path holds a character that cannot stand in the name of a socket.')
  }
  if (/\/(?:\.{0,2})$/.test(path))
    return fault('path', 'The path ends in a folder, not in a socket.')
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  const normal = `/${parts.join('/')}`
  const bytes = new TextEncoder().encode(normal).length
  if (bytes > UNIX_PATH_BYTES) {
    return fault('path', `The path has ${bytes} bytes; the system takes ${UNIX_PATH_BYTES}.`)
  }
  return { ok: true, address: { scheme: 'unix', path: normal } }
}
