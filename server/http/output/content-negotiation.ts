import { parseAccept } from 'hono/utils/accept'
import { VERSIONS } from '../../contract/document.ts'
import { Failure } from '../../failure.ts'
import type { RequestView } from '../env.ts'
import { requestHeader } from '../input/headers.ts'

/**
 * Returns the headers of JSON in the version that the request accepts.
 *
 * @throws Failure `not-acceptable`
 */
export const jsonHeaders = (c: RequestView) => ({
  'Content-Type': `application/json; version=${acceptedVersion(requestHeader(c, 'accept'))}`,
  ...VARY_ACCEPT,
})

/** Matches a header that may name a version. */
const VERSION = /;\s*version\s*=/i

/** Matches the media ranges that include JSON. */
const JSON_RANGE = /^(?:application\/(?:json|\*)|\*\/\*)$/i

/**
 * Returns the document version that `Accept: application/json; version=1` requests. Without a
 * version it returns the newest.
 *
 * @throws Failure `not-acceptable` naming the available versions, if the header accepts no JSON in
 * one of them (RFC 9110 §15.5.7).
 */
export function acceptedVersion(accept: string | undefined): number {
  const newest = VERSIONS[0]
  if (accept === undefined || !VERSION.test(accept)) return newest
  const ranges = parseAccept(accept)
    .filter(({ q }) => q > 0)
    .map(({ type, params }) => ({ type, version: versionOf(params) }))
  const requested = ranges.flatMap(({ version }) => version ?? [])
  if (requested.length === 0) return newest
  const version = VERSIONS.find((version) => requested.includes(String(version)))
  if (version !== undefined) return version
  if (ranges.some(({ type, version }) => version === undefined && JSON_RANGE.test(type))) {
    return newest
  }
  throw new Failure(
    'not-acceptable',
    `Version ${requested[0]?.slice(0, 32)} is not supported. Supported: ${VERSIONS.join(', ')}.`,
    { field: 'Accept' },
  )
}

/** Returns the parameter `version`. Names of parameters are case-insensitive. */
const versionOf = (params: Record<string, string>): string | undefined =>
  Object.entries(params).find(([name]) => name.toLowerCase() === 'version')?.[1]

/**
 * The header of every response to a request whose `Accept` matters, errors and 304 included
 * (RFC 9110 §12.5.5). `Accept-Encoding` is added when a response is compressed.
 */
export const VARY_ACCEPT = { Vary: 'Accept' } as const

/**
 * The header of errors outside `/_api`: a page for a browser that navigates, by `Sec-Fetch-Mode` or
 * `Accept`, otherwise JSON.
 */
export const VARY_NAVIGATION = { Vary: 'Accept, Sec-Fetch-Mode' } as const

/** Media types of a collection. */
const TYPES = ['application/json', 'application/x-ndjson', 'text/csv'] as const

type CollectionType = (typeof TYPES)[number]

/**
 * Returns the media type that an `Accept` header prefers (RFC 9110 §12.5.1). Types other than JSON
 * must be named: ranges such as `text/*` mean JSON.
 */
export function acceptedType(accept: string | undefined): CollectionType {
  if (accept === undefined || !OTHER.test(accept)) return 'application/json'
  const ranges = parseAccept(accept).filter(({ q }) => q > 0)
  for (const { type } of ranges) {
    const named = TYPES.find((each) => each === type.toLowerCase())
    if (named !== undefined) return named
    if (type === '*/*' || type === 'application/*') break
  }
  return 'application/json'
}

const OTHER = /x-ndjson|csv/i
