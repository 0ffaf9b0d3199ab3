import type { MiddlewareHandler } from 'hono'
import { createMiddleware } from 'hono/factory'
import type * as z from 'zod/mini'
import { createTurns, runInTurns } from '../../../concurrency/turns.ts'
import { requireJsonLimits } from '../../../contract/json/json-limits.ts'
import { parseJson } from '../../../contract/json/parse-json.ts'
import { PIECE_LENGTH, parseJsonInSteps } from '../../../contract/json/parse-json-in-steps.ts'
import { notJson } from '../../../contract/json/strict-json.ts'
import type { AppEnv } from '../../env.ts'
import { validated } from '../validated.ts'
import { textBody } from './text-body.ts'

/** Maximum size of a request body under `/_api`, bytes. */
export const BODY_LIMIT = 1024 * 1024

const nextTurn = createTurns()

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
