import * as z from 'zod/mini'
import { errorObject } from '../acknowledgement.ts'
import { MAPPING_NAMES, MAX_CHANGES } from './endpoint.ts'
import { policy } from './policy.ts'

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

const changedPolicy = z
  .nullable(policy)
  .check(z.describe('the rules of the endpoint; null removes them'))

/** One change of a bulk change: sets the databases or the policy of an endpoint, or removes it. */
export const endpointChange = z.union(
  [
    z.strictObject({
      endpoint: z.string(),
      databases,
      policy: z.optional(changedPolicy),
      expect,
    }),
    z.strictObject({
      endpoint: z.string(),
      policy: changedPolicy,
      expectPolicy: z
        .optional(z.nullable(revision))
        .check(z.describe('the revision that the policy must have; null if there must be none')),
    }),
    z.strictObject({ endpoint: z.string(), remove: z.literal(true), expect }),
  ],
  'an endpoint with databases, a policy or remove: true, and optionally expect',
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

const outcomeOf = {
  at: z.int().check(z.describe('the index in the array `changes`')),
  endpoint: z.string(),
}

/** The outcome of one change. A failure has the error that a single request would get. */
const endpointChangeOutcome = z.union([
  z.object({ ...outcomeOf, state: z.enum(['made', 'unchanged']) }),
  z.extend(errorObject, { ...outcomeOf, state: z.literal('failed') }),
])

export type EndpointChangeOutcome = z.infer<typeof endpointChangeOutcome>

/**
 * Response of `POST /_api/endpoint-change`. Changes that were not started have no outcome: removals
 * after a failure with `keepOnFailure`, and the rest if the database becomes unavailable.
 */
export const endpointChangeOutcomes = z.array(endpointChangeOutcome)
