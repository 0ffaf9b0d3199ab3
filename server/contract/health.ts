import * as z from 'zod/mini'

/**
 * Response of `GET /_api/health` and the paths below it; the status is 503 if the requested check
 * fails.
 */
export const health = z.object({
  alive: z.boolean(),
  ready: z
    .boolean()
    .check(
      z.describe(
        'false while the node starts or stops, its database is unavailable, or it cannot confirm that its state is current',
      ),
    ),
  waiting: z
    .int()
    .check(
      z.describe('number of statements and transactions that wait for a PostgreSQL connection'),
    ),
  writable: z
    .boolean()
    .check(
      z.describe('false while changes cannot be stored, for example because the disk is full'),
    ),
  reason: z.nullable(z.string()).check(z.describe('why the node is not ready, or not writable')),
})

export type Health = z.infer<typeof health>
