import { formatHost } from '../../../server/contract/endpoints/address.ts'

/** The fields of a draft that make up its address, as typed. */
export interface AddressDraft {
  readonly scheme: 'tcp' | 'ssl' | 'unix'
  /** As written in an address, with IPv6 in brackets. */
  readonly host: string
  readonly port: string
  readonly path: string
}

const SOCKET = /^unix:\/\/(.*)$/is
const URL_PARTS = /^(tcp|ssl|https?):\/\/([^/?#]*)/i
const HOST_AND_PORT = /^(\[[^\]]*\]|[^:[\]/]*):([0-9]+)$/
const BARE_IPV6 = /^[0-9A-Fa-f.]*:[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*(?:%[^\]]*)?$/
const DIGITS = /^[0-9]*$/

const schemes: Readonly<Record<string, 'tcp' | 'ssl'>> = {
  tcp: 'tcp',
  http: 'tcp',
  ssl: 'ssl',
  https: 'ssl',
}

/**
 * Parses the text of the host field into address fields. Accepts `tcp://127.0.0.1:8530`,
 * `127.0.0.1:8530`, `[::1]:8530`, `unix:///path`, `::1`, the URL of a console, and a host alone.
 * Trims the text and adds brackets to IPv6. Returns any other text as the host.
 */
export function splitAddress(text: string): Partial<AddressDraft> {
  const trimmed = text.trim()
  const path = SOCKET.exec(trimmed)?.[1]
  if (path !== undefined) return { scheme: 'unix', path }
  const parts = URL_PARTS.exec(trimmed)
  const scheme = schemes[parts?.[1]?.toLowerCase() ?? '']
  if (scheme !== undefined) return { scheme, ...splitHost(parts?.[2] ?? '') }
  return splitHost(trimmed)
}

/**
 * Parses text pasted as a port or a path into address fields. Returns undefined unless it is a
 * whole address or a host with a port.
 */
export function splitPasted(text: string): Partial<AddressDraft> | undefined {
  const trimmed = text.trim()
  if (DIGITS.test(trimmed) || trimmed.startsWith('/')) return undefined
  const split = splitAddress(trimmed)
  return split.path !== undefined || split.port !== undefined ? split : undefined
}

function splitHost(text: string): Partial<AddressDraft> {
  const match = HOST_AND_PORT.exec(text)
  if (match?.[1] !== undefined && match[2] !== undefined) return { host: match[1], port: match[2] }
  // The last group of an IPv6 address without brackets may or may not be a port.
  return { host: BARE_IPV6.test(text) ? formatHost(text) : text }
}
