import type { Context } from 'hono'
import { Failure } from '../../../failure.ts'
import type { AppEnv } from '../../env.ts'
import { requireUtf8 } from './charset.ts'

/** Matches `application/json` and `+json` types, with or without parameters (RFC 6839 §3.1). */
const JSON_TYPE = /^application\/(?:[a-z0-9!#$&^_.+-]+\+)?json\s*(?:;|$)/i

/**
 * Matches the types that `curl --data` and older clients send with a JSON body. A browser never
 * sends a token with these by itself.
 */
const UNDECLARED_TYPE = /^(?:application\/x-www-form-urlencoded|text\/plain)\s*(?:;|$)/i

/** Matches the type of a JSON Patch (RFC 6902), which would be read as a merge patch. */
const JSON_PATCH = /^application\/json-patch\+json\s*(?:;|$)/i

/**
 * Accepts a body whose Content-Type is JSON in UTF-8, or missing. If the request carries a token,
 * form and plain-text types are accepted too.
 *
 * @throws Failure `unsupported-media-type` naming the header.
 */
export function requireJsonType(c: Context<AppEnv>): void {
  const type = c.req.header('Content-Type')
  if (type === undefined) return
  if (JSON_PATCH.test(type)) throw isJsonPatch()
  const hasToken = c.get('principal')?.by === 'token'
  if (JSON_TYPE.test(type) || (hasToken && UNDECLARED_TYPE.test(type))) {
    requireUtf8(type)
    return
  }
  throw new Failure(
    'unsupported-media-type',
    `The body must be JSON, but Content-Type is ${JSON.stringify(type.slice(0, 64))}.`,
    { field: 'Content-Type' },
  )
}

// `Accept-Patch`: RFC 5789 §2.2.
const isJsonPatch = () =>
  new Failure(
    'unsupported-media-type',
    'JSON Patch (RFC 6902) is not supported. Send a JSON merge patch (RFC 7396).',
    { field: 'Content-Type', headers: { 'Accept-Patch': 'application/merge-patch+json' } },
  )
