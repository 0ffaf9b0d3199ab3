import * as z from 'zod/mini'

/** Answer of `GET /_api/health` and what stands below it; 503 where what was asked for is false. */
export const health = z.object({
  alive: z.boolean(),
  ready: z
    .boolean()
    .check(z.describe('false while it starts, before and while it stops, or without storage')),
  reason: z.nullable(z.string()),
  waiting: z
    .int()
    .check(z.describe('How many statements and transactions wait for a connection to PostgreSQL')),
})

/** {@link health} as a type. */
export type Health = z.infer<typeof health>
