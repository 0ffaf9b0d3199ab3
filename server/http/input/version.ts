import { parseAccept } from 'hono/utils/accept'
import { VERSIONS } from '../../contract/document.ts'
import { Failure } from '../../failure.ts'

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
