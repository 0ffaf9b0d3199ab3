import type { MiddlewareHandler } from 'hono'
import { createMiddleware } from 'hono/factory'
import type * as z from 'zod/mini'
import type { Json } from '../../../contract/json/json.ts'
import { requireJsonLimits } from '../../../contract/json/json-limits.ts'
import { parseJson } from '../../../contract/json/parse-json.ts'
import { notJson } from '../../../contract/json/strict-json.ts'
import type { AppEnv } from '../../env.ts'
import { validated } from '../validated.ts'
import { textBody } from './text-body.ts'

/** Maximum size of a request body under `/_api`, bytes. */
export const BODY_LIMIT = 1024 * 1024

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
