import type { Context, MiddlewareHandler } from 'hono'
import { createMiddleware } from 'hono/factory'
import * as z from 'zod/mini'
import { issueReason } from '../../../contract/issue-reason.ts'
import { type Json, jsonPointer } from '../../../contract/json/json.ts'
import { requireJsonLimits } from '../../../contract/json/json-limits.ts'
import { decodeBody, parseJson } from '../../../contract/json/parse-json.ts'
import { notJson } from '../../../contract/json/strict-json.ts'
import { Failure } from '../../../failure.ts'
import type { AppEnv } from '../../env.ts'
import { parseParameter, splitUnquoted } from '../headers.ts'
import { readBody } from './request-body.ts'

/** Maximum size of a request body under `/_api`, bytes. */
const BODY_LIMIT = 1024 * 1024

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
    const text = await textBody(c, limit)
    c.req.addValidatedData('json', validated(schema, parse(text), 'body') as object)
    await next()
  })

function parse(text: string): Json {
  requireJsonLimits(text)
  try {
    return parseJson(text)
  } catch (cause) {
    throw notJson(text, cause)
  }
}

/**
 * Reads a JSON body as text, so that the caller parses exactly what was sent.
 *
 * @param maxBytes maximum size, bytes.
 * @throws Failure `unsupported-media-type`; `bad-json` for invalid UTF-8; as {@link readBody}.
 */
export async function textBody(c: Context<AppEnv>, maxBytes: number): Promise<string> {
  requireJsonType(c)
  return decodeBody(await readBody(c, maxBytes))
}

z.config(z.locales.en())

/** Maximum number of issues that a failure reports. */
const MAX_ISSUES = 10

/**
 * Parses the body or the query string of a request with a schema.
 *
 * @param within the path of the value, if it is only a part of the body.
 * @throws Failure `bad-parameter`. Its message names the first invalid fields, `errors` lists them,
 * and `field` is the first one: a JSON Pointer into a body, or the name of a query parameter.
 */
export function validated<S extends z.ZodMiniType>(
  schema: S,
  value: unknown,
  whole: 'body' | 'query',
  within: readonly PropertyKey[] = [],
): z.output<S> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const issues = result.error.issues.slice(0, MAX_ISSUES)
  const sentences: string[] = []
  const errors = issues.map((issue) => {
    const reason = issueReason(issue)
    const path = [...within, ...issue.path]
    const name = z.core.toDotPath(path)
    sentences.push(name === '' ? capitalize(reason) : `${name}: ${reason}`)
    if (issue.code === 'unrecognized_keys') path.push(...issue.keys.slice(0, 1))
    return { field: whole === 'body' ? jsonPointer(path) : path[0]?.toString(), reason }
  })
  throw new Failure('bad-parameter', `The ${whole} is invalid. ${sentences.join('; ')}.`, {
    field: errors[0]?.field,
    errors,
  })
}

/** Returns a text with a capital first letter. */
const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

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

/** Matches UTF-8, and US-ASCII, which is part of it. Some clients send single quotes. */
const UTF_8 = /^'?(?:utf-?8|us-ascii)'?$/i

/**
 * Rejects a `Content-Type` with a charset other than UTF-8, which the server would misread.
 *
 * @throws Failure `unsupported-media-type`
 */
export function requireUtf8(type: string): void {
  const [, ...parameters] = splitUnquoted(type, ';')
  for (const parameter of parameters) {
    const [name, charset = ''] = parseParameter(parameter)
    if (name !== 'charset' || charset === '' || UTF_8.test(charset)) continue
    throw new Failure(
      'unsupported-media-type',
      `The body must be UTF-8, but Content-Type has the charset ${JSON.stringify(charset.slice(0, 64))}.`,
      { field: 'Content-Type' },
    )
  }
}
