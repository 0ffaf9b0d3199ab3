import type { MiddlewareHandler } from 'hono'
import { createMiddleware } from 'hono/factory'
import type * as z from 'zod/mini'
import { Failure } from '../failure.ts'
import type { AppEnv } from './env.ts'
import { validated } from './validated.ts'

/**
 * Validates the query string against a schema; handlers get it by `c.req.valid('query')`.
 * Parameters that the schema does not know are ignored; one given twice is refused.
 *
 * Fails with `bad-parameter` naming the parameter.
 */
export const queryInput = <S extends z.ZodMiniObject>(
  schema: S,
): MiddlewareHandler<AppEnv, string, { in: { query: z.input<S> }; out: { query: z.output<S> } }> =>
  createMiddleware(async (c, next) => {
    const values: Record<string, string> = {}
    for (const [name, given] of Object.entries(c.req.queries())) {
      if (!Object.hasOwn(schema.shape, name)) continue
      if (given.length > 1) throw new Failure('bad-parameter', `${name} is given more than once.`)
      values[name] = given[0] ?? ''
    }
    c.req.addValidatedData('query', validated(schema, values, 'query') as object)
    await next()
  })
