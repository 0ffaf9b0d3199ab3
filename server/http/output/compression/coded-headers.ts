import type { OutgoingHttpHeaders } from 'node:http'
import { type Coding, codedTag, uncodedTag } from '../../../contract/content-coding.ts'

/** The head of a response, as its handler writes it. Names can be in any case. */
export interface ResponseHead {
  readonly status: number
  readonly headers: OutgoingHttpHeaders
}

/** Types that compress well. Events must arrive at once. */
const COMPRESSIBLE =
  /^(?:text\/(?!event-stream)|application\/(?:json|x-ndjson|javascript)\b|[a-z]+\/[a-z.-]+\+(?:json|xml)\b)/i

/** Returns the value of a header as text. */
export function headerOf({ headers }: ResponseHead, name: string): string | undefined {
  const key = Object.keys(headers).find((each) => each.toLowerCase() === name)
  const value = key === undefined ? undefined : headers[key]
  return value === undefined ? undefined : String(value)
}

/** Returns whether a response may be compressed, if its body is large enough. */
export function isCompressible(head: ResponseHead): boolean {
  return (
    COMPRESSIBLE.test(headerOf(head, 'content-type') ?? '') &&
    headerOf(head, 'content-encoding') === undefined &&
    !/\bno-transform\b/i.test(headerOf(head, 'cache-control') ?? '')
  )
}

/**
 * Returns the headers of a compressible response, sent with a coding, or without one. The length is
 * removed unless it is given. A strong entity tag differs for each coding (RFC 9110 §8.8.3.3).
 */
export function codedHeaders(
  head: ResponseHead,
  coding: Coding | undefined,
  length?: number,
): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = {}
  for (const [name, value] of Object.entries(head.headers)) {
    const key = name.toLowerCase()
    if (key === 'vary' || (key === 'content-length' && coding !== undefined)) continue
    headers[name] =
      key === 'etag' && coding !== undefined ? codedEntityTag(String(value), coding) : value
  }
  headers.Vary = variesByEncoding(head)
  if (coding !== undefined) headers['Content-Encoding'] = coding
  if (length !== undefined) headers['Content-Length'] = length
  return headers
}

/** Returns the `Vary` of a response with `Accept-Encoding` added. */
function variesByEncoding(head: ResponseHead): string {
  const vary = headerOf(head, 'vary')
  if (vary === undefined) return 'Accept-Encoding'
  const isNamed = /(?:^|[,\s])(?:accept-encoding|\*)(?:[,\s]|$)/i.test(vary)
  return isNamed ? vary : `${vary}, Accept-Encoding`
}

const codedEntityTag = (etag: string, coding: Coding): string =>
  etag.startsWith('"') ? `"${codedTag(etag.slice(1, -1), coding)}"` : etag

/**
 * Returns the headers of a 304 response (RFC 9110 §15.4.5). Its entity tag is that of the
 * representation which the client has, by its `If-None-Match`.
 */
export function notModifiedHeaders(
  head: ResponseHead,
  ifNoneMatch: string | undefined,
): OutgoingHttpHeaders {
  const etag = headerOf(head, 'etag')
  const matching = ifNoneMatch
    ?.split(',')
    .map((each) => each.trim())
    .find((each) => etag !== undefined && `"${uncodedTag(each.slice(1, -1))}"` === etag)
  const others = Object.entries(head.headers).filter(([name]) => !/^(?:etag|vary)$/i.test(name))
  const headers = { ...Object.fromEntries(others), Vary: variesByEncoding(head) }
  return etag === undefined ? headers : { ...headers, ETag: matching ?? etag }
}
