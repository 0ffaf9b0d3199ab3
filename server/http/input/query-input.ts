import type { MiddlewareHandler } from 'hono'
import { createMiddleware } from 'hono/factory'
import type * as z from 'zod/mini'
import { invariant } from '../../contract/invariant.ts'
import { singleValue } from '../../contract/query/query-parameter.ts'
import type { AppEnv } from '../env.ts'
import { validated } from './body/json-body.ts'

/**
 * Validates the query string against a schema; handlers get it by `c.req.valid('query')`. Unknown
 * parameters are ignored. A repeated parameter is rejected unless the schema has a list for it.
 *
 * Fails with `bad-parameter` naming the parameter.
 */
export const queryInput = <S extends z.ZodMiniObject>(
  schema: S,
): MiddlewareHandler<AppEnv, string, { in: { query: z.input<S> }; out: { query: z.output<S> } }> =>
  createMiddleware(async (c, next) => {
    const values: Record<string, string | string[]> = {}
    for (const [name, all] of Object.entries(c.req.queries())) {
      if (!Object.hasOwn(schema.shape, name)) continue
      if (isList(schema.shape[name])) {
        values[name] = all
        continue
      }
      const value = singleValue(name, all)
      invariant(value !== undefined, 'a parameter that is given has a value')
      values[name] = value
    }
    c.req.addValidatedData('query', validated(schema, values, 'query') as object)
    await next()
  })

/** Returns whether a schema is a list or an optional list. */
function isList(schema: z.core.$ZodType | undefined): boolean {
  if (schema === undefined) return false
  const { def } = schema._zod
  if (def.type === 'optional') return isList((def as z.core.$ZodOptionalDef).innerType)
  return def.type === 'array'
}
