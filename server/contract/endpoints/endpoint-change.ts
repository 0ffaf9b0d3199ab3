import * as z from 'zod/mini'
import { errorObject } from '../acknowledgement.ts'
import { wholeNumber } from '../query/whole-number.ts'
import { MAPPING_NAMES } from './endpoint.ts'

/** Maximum number of changes in one bulk change. */
export const MAX_CHANGES = 10_000

/** Maximum size of the body of `POST /_api/endpoint-change`, bytes: 4 MiB. */
export const CHANGES_BYTES = 4 * 1024 * 1024

/** Maximum number of queued and running bulk changes. */
export const MAX_UNFINISHED_CHANGES = 10

/** How long a bulk change is listed after it was requested, ms: a day. */
export const CHANGE_RETENTION = 24 * 60 * 60_000

/** Maximum number of bulk changes that are listed. */
export const MAX_LISTED_CHANGES = 50

/** Maximum number of failures on one page. */
export const FAILURES_PAGE = 500

const revision = z.int().check(z.nonnegative())

const expect = z
  .optional(z.nullable(revision))
  .check(
    z.describe(
      'the revision that the endpoint must have; null if it must not exist; omit to accept any state',
    ),
  )

const databases = z
  .array(z.string())
  .check(z.maxLength(MAPPING_NAMES, 'at most 1,000 names'), z.describe('empty for all databases'))

/** One change of a bulk change: sets the databases of an endpoint, or removes it. */
export const endpointChange = z.union(
  [
    z.strictObject({ endpoint: z.string(), databases, expect }),
    z.strictObject({ endpoint: z.string(), remove: z.literal(true), expect }),
  ],
  'an endpoint with either databases or remove: true, and optionally expect',
)

export type EndpointChangeInput = z.infer<typeof endpointChange>

const bodyOf = <Change extends z.ZodMiniType>(change: Change) =>
  z.object({
    changes: z
      .array(change)
      .check(
        z.minLength(1, 'at least one change'),
        z.maxLength(MAX_CHANGES, 'at most 10,000 changes'),
        z.describe('each endpoint at most once; applied in this order'),
      ),
    keepOnFailure: z
      .optional(z.boolean())
      .check(z.describe('if true, no endpoint is removed after a change has failed')),
  })

/** Body of `POST /_api/endpoint-change`. */
export const endpointChangeInput = bodyOf(endpointChange)

/** The same body with changes that are still to be validated, about 10 µs of work for each. */
export const unvalidatedChanges = bodyOf(z.unknown())

const count = (what: string) => z.int().check(z.describe(what))

/** A bulk change in a list. */
export const endpointChangeView = z.object({
  id: z.string(),
  state: z
    .enum(['running', 'done', 'cancelled', 'stopped'])
    .check(z.describe('stopped if the caller lost the operator role')),
  actor: z.string(),
  created: z.string(),
  ended: z.nullable(z.string()),
  total: count('number of requested changes'),
  removals: count('how many of them are removals'),
  made: count('number of changes made'),
  unchanged: count('number of endpoints that were already as requested'),
  failed: count('number of changes that failed'),
  left: count(
    'number of changes that have not been made; after the end, of those that were never started',
  ),
  undoOf: z.nullable(z.string()).check(z.describe('the bulk change that this one undoes')),
  undoneBy: z.nullable(z.string()).check(z.describe('the bulk change that undoes this one')),
})

export type EndpointChangeView = z.infer<typeof endpointChangeView>

/** Response of `GET /_api/endpoint-change`, newest first. */
export const endpointChangeList = z.array(endpointChangeView)

/** Why one change of a bulk change failed: the error that a single request would get. */
export const endpointChangeFailure = z.extend(errorObject, {
  at: z.int().check(z.describe('the index in the array `changes`')),
  endpoint: z.string(),
})

export type EndpointChangeFailure = z.infer<typeof endpointChangeFailure>

/** Response of `GET /_api/endpoint-change/<id>`. */
export const endpointChangePage = z.extend(endpointChangeView, {
  failures: z.array(endpointChangeFailure),
  next: z
    .nullable(z.int())
    .check(z.describe('the value of `after` for the next page; null on the last page')),
})

export type EndpointChangePage = z.infer<typeof endpointChangePage>

/** Query of `GET /_api/endpoint-change/<id>`. */
export const endpointChangeQuery = z.object({
  after: z.optional(
    wholeNumber(0, MAX_CHANGES).check(z.describe('returns only failures after this index')),
  ),
  limit: z.optional(
    wholeNumber(1, FAILURES_PAGE).check(
      z.describe('the maximum number of failures; 100 by default'),
    ),
  ),
})
