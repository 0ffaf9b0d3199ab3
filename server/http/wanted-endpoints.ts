import type { MiddlewareHandler } from 'hono'
import { createMiddleware } from 'hono/factory'
import * as z from 'zod/mini'
import type { AppEnv } from './env.ts'

/** Query of a list that can be asked for in part: `?endpoint=…&endpoint=…`; left out: all of it. */
export const wantedQuery = z.object({
  endpoint: z.optional(z.array(z.string()).check(z.describe('only these addresses'))),
})

type Wanted = z.infer<typeof wantedQuery>

/**
 * Reads which endpoints are wanted, as often as the parameter is given; handlers get them by
 * `c.req.valid('query')`. An address that nobody has is simply not in the answer.
 */
export const wantedEndpoints: MiddlewareHandler<
  AppEnv,
  string,
  { in: { query: Wanted }; out: { query: Wanted } }
> = createMiddleware(async (c, next) => {
  c.req.addValidatedData('query', { endpoint: c.req.queries('endpoint') })
  await next()
})
