import * as z from 'zod/mini'

/** The most databases that the mapping of an endpoint names. */
export const MAPPING_NAMES = 1_000

/** The most addresses that one query asks for. */
export const QUERY_ADDRESSES = 200

const mapping = z.array(z.string()).check(z.maxLength(MAPPING_NAMES, 'at most 1,000 names'))

/** An endpoint as it is configured, and nothing more (seed 000, "Endpoint record"). */
export const endpointRecord = z.object({
  endpoint: z.string().check(z.describe('the address in canonical form, tcp://127.0.0.1:8530')),
  databases: z
    .array(z.string())
    .check(z.describe('empty: every database; the first is the default')),
})

/** {@link endpointRecord} as a type. */
export type EndpointRecord = z.infer<typeof endpointRecord>

/**
 * Query of `GET /_api/endpoint`, which can be asked for in part. An address that nobody has is simply
 * not in the answer.
 */
export const endpointQuery = z.object({
  endpoint: z.optional(
    z
      .array(z.string())
      .check(
        z.maxLength(QUERY_ADDRESSES, 'at most 200 addresses'),
        z.describe('only these addresses; may be given up to 200 times'),
      ),
  ),
})

/** Answer of `GET /_api/endpoint`, sorted by address. */
export const endpointList = z.array(endpointRecord)

/** Body of `POST /_api/endpoint`. Unknown keys, such as the seed's `database`, are ignored. */
export const endpointInput = z.object({
  endpoint: z.string(),
  databases: mapping,
})

/** {@link endpointInput} as a type. */
export type EndpointInput = z.infer<typeof endpointInput>
