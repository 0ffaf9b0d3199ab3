import * as z from 'zod/mini'
import { errorBody } from './acknowledgement.ts'

/** What a job does to a collection. */
export const JOB_KINDS = ['create', 'patch', 'delete', 'list'] as const

/** One of {@link JOB_KINDS}. */
export type JobKind = (typeof JOB_KINDS)[number]

/** Answer of `GET /_job/<id>`. */
export const jobView = z.object({
  id: z.string(),
  kind: z.enum(JOB_KINDS),
  collection: z.string(),
  state: z.enum(['running', 'done', 'failed']),
  done: z.number().check(z.describe('documents gone through so far')),
  total: z.nullable(z.number()).check(z.describe('of how many; null: not known before the end')),
  found: z.number().check(z.describe('documents taken so far: created, changed, deleted, listed')),
  failure: z.nullable(errorBody).check(z.describe('why it failed, as a request would be told')),
  documents: z
    .optional(z.array(z.unknown()))
    .check(
      z.describe('a page of them, where it lists; a page with a next one may be short or empty'),
    ),
  created: z.string(),
  updated: z.string(),
})

/** {@link jobView} as a type. */
export type JobView = z.infer<typeof jobView>

/** How long the result of a job is kept, ms: a day. */
export const JOB_KEPT = 24 * 60 * 60_000

/** How many ended listings of one database are kept; then the oldest are deleted sooner. */
export const LISTINGS_KEPT = 1000

/** How many jobs of one database may be under way. */
export const JOBS_UNDER_WAY = 100
