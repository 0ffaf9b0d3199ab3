import type { LookupAddress } from 'node:dns'
import { lookup } from 'node:dns/promises'
import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { createRangeMatch } from '../ip-ranges.ts'

/** Maximum duration of an attempt, ms. */
const ATTEMPT_TIME = 10_000

/** Maximum size of a response that is read, bytes. */
const RESPONSE_BYTES = 64 * 1024

/** Headers of responses that are kept. */
const RESPONSE_HEADERS = ['content-type', 'location', 'retry-after', 'server'] as const

/** What became of a request. */
export interface Sent {
  /** Null without a response. */
  readonly status: number | null
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Number of bytes of the body that were read. */
  readonly bytes: number
  readonly milliseconds: number
  /** Why there is no response. */
  readonly error?: string
}

/** Sends a message by POST. Never throws, unless `signal` aborts it. */
export type Send = (
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  signal?: AbortSignal,
) => Promise<Sent>

/** Networks that are not public by the IANA registries of special-purpose addresses. */
const isSpecial = createRangeMatch([
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16'],
  ...['172.16.0.0/12', '192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16'],
  ...['198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
  // Teredo, 6to4 and others that contain IPv4 addresses, and documentation.
  ...['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'],
])

/** The addresses of IPv6 that are assigned; loopback, link-local, ULA and multicast are outside. */
const isGlobal = createRangeMatch(['0.0.0.0/0', '2000::/3'])

/**
 * Returns whether requests may go to an address: it is public, or in a permitted network.
 *
 * @param allow addresses and CIDR ranges.
 */
export function createAddressCheck(allow: readonly string[]): (address: string) => boolean {
  const isAllowed = createRangeMatch(allow)
  return (address) => isAllowed(address) || (isGlobal(address) && !isSpecial(address))
}

/** Returns the host of a URL as resolvers and sockets take it. */
const hostOf = (url: URL) => url.hostname.replace(/^\[|\]$/g, '')

/** Returns whether a URL names an address to which no request may go. */
export function namesBlockedAddress(url: string, isAllowed: (address: string) => boolean): boolean {
  const host = hostOf(new URL(url))
  return isIP(host) !== 0 && !isAllowed(host)
}

/**
 * Returns a {@link Send} that connects only to permitted addresses. It resolves a host once and
 * connects to what it has checked, so a name cannot resolve to something else in between. It does
 * not follow redirects.
 */
export function createSend(isAllowed: (address: string) => boolean): Send {
  async function resolve(host: string): Promise<readonly LookupAddress[]> {
    const family = isIP(host)
    const found = family === 0 ? await lookup(host, { all: true }) : [{ address: host, family }]
    const usable = found.filter(({ address }) => isAllowed(address))
    if (usable.length > 0) return usable
    throw new Error(
      `${host} has no public address. GATEHOUSE_WEBHOOK_ALLOW permits other networks.`,
    )
  }
  return async (url, headers, body, signal) => {
    const begun = performance.now()
    const milliseconds = () => Math.round(performance.now() - begun)
    const timeout = AbortSignal.timeout(ATTEMPT_TIME)
    const end = signal === undefined ? timeout : AbortSignal.any([timeout, signal])
    try {
      const target = new URL(url)
      const addresses = await untilAborted(resolve(hostOf(target)), end)
      const response = await post(target, headers, body, addresses, end)
      const read = await readStart(response)
      const { statusCode: status = 0 } = response
      return { status, headers: pick(response), ...read, milliseconds: milliseconds() }
    } catch (error) {
      if (signal?.aborted) throw error
      const message = timeout.aborted
        ? `No response within ${ATTEMPT_TIME / 1000} seconds.`
        : (error as Error).message || 'The connection failed.'
      const none = { status: null, headers: {}, body: '', bytes: 0 }
      return { ...none, milliseconds: milliseconds(), error: message }
    }
  }
}

function post(
  url: URL,
  headers: Readonly<Record<string, string>>,
  body: string,
  addresses: readonly LookupAddress[],
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const checked: LookupFunction = (_host, { all }, callback) => {
    const [first] = addresses
    if (all) callback(null, [...addresses])
    else callback(null, first?.address ?? '', first?.family)
  }
  return new Promise((resolve, reject) => {
    const request = url.protocol === 'https:' ? requestHttps : requestHttp
    request(url, { method: 'POST', headers, agent: false, lookup: checked, signal })
      .on('response', resolve)
      .on('error', reject)
      .end(body)
  })
}

/** Reads the beginning of a body, then closes the connection. */
async function readStart(response: IncomingMessage): Promise<Pick<Sent, 'body' | 'bytes'>> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes >= RESPONSE_BYTES) break
  }
  const read = Buffer.concat(chunks).subarray(0, RESPONSE_BYTES)
  return { body: read.toString(), bytes: read.length }
}

function pick({ headers }: IncomingMessage): Record<string, string> {
  const kept = RESPONSE_HEADERS.flatMap((name) => {
    const value = headers[name]
    return value === undefined ? [] : [[name, String(value).slice(0, 1_024)] as const]
  })
  return Object.fromEntries(kept)
}

/** Rejects when the signal is aborted, because a lookup cannot be. */
async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const abort = () => reject(signal.reason)
  signal.addEventListener('abort', abort)
  if (signal.aborted) abort()
  try {
    return await Promise.race([work, promise])
  } finally {
    signal.removeEventListener('abort', abort)
    // It may fail later, when nobody waits for it.
    work.catch(() => {})
  }
}
