import type { Context, MiddlewareHandler } from 'hono'
import { createMiddleware } from 'hono/factory'
import type * as z from 'zod/mini'
import { createTurns, runInTurns } from '../../../concurrency/turns.ts'
import { requireJsonLimits } from '../../../contract/json/json-limits.ts'
import { parseJson } from '../../../contract/json/parse-json.ts'
import { PIECE_LENGTH, parseJsonInSteps } from '../../../contract/json/parse-json-in-steps.ts'
import { notJson } from '../../../contract/json/strict-json.ts'
import { Failure } from '../../../failure.ts'
import type { AppEnv } from '../../env.ts'
import { validated } from '../validated.ts'
import { requireUtf8 } from './charset.ts'
import { readBody } from './request-body.ts'

/** Maximum size of a request body under `/_api`, bytes. */
export const BODY_LIMIT = 1024 * 1024

const nextTurn = createTurns()

// Replaces invalid UTF-8; the schema then accepts or rejects the text.
const utf8 = new TextDecoder()

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

/**
 * Validates the body against a schema; handlers get it by `c.req.valid('json')`. A missing
 * Content-Type counts as JSON.
 *
 * Fails with `unsupported-media-type`; `too-large` beyond `limit` bytes; `bad-json`; `invalid` for
 * JSON that exceeds the limits of `contract/json/json-limits.ts`; or `bad-parameter` naming the
 * field.
 */
export const jsonBody = <S extends z.ZodMiniType>(
  schema: S,
  limit = BODY_LIMIT,
): MiddlewareHandler<AppEnv, string, { in: { json: z.input<S> }; out: { json: z.output<S> } }> =>
  createMiddleware(async (c, next) => {
    requireJsonType(c)
    const text = utf8.decode(await readBody(c, limit))
    c.req.addValidatedData('json', validated(schema, await parse(text), 'body') as object)
    await next()
  })

/** Parses JSON. Each step of a long text takes a turn of the event loop of its own. */
async function parse(text: string): Promise<unknown> {
  requireJsonLimits(text)
  try {
    if (text.length <= PIECE_LENGTH) return parseJson(text)
    return await runInTurns(parseJsonInSteps(text), nextTurn)
  } catch (cause) {
    throw notJson(text, cause)
  }
}
