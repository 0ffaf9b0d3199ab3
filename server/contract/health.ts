import * as z from 'zod/mini'

/** Answer of `GET /_api/health` and what stands below it; 503 where what was asked for is false. */
export const health = z.object({
  alive: z.boolean(),
  ready: z
    .boolean()
    .check(z.describe('false while it starts, before and while it stops, or without storage')),
  waiting: z
    .int()
    .check(z.describe('How many statements and transactions wait for a connection to PostgreSQL')),
  writable: z
    .boolean()
    .check(z.describe('false while changes cannot be stored, such as on a full disk')),
  reason: z.nullable(z.string()).check(z.describe('why it is not ready, or else not writable')),
})

/** {@link health} as a type. */
export type Health = z.infer<typeof health>
