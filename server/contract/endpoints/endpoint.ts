import * as z from 'zod/mini'
import { Failure } from '../../failure.ts'

/** Maximum number of databases in the mapping of an endpoint. */
export const MAPPING_NAMES = 1_000

/** Maximum number of addresses in one query. */
export const QUERY_ADDRESSES = 200

/** Maximum number of changes in one bulk change. */
export const MAX_CHANGES = 10_000

/** Maximum size of the body of `POST /_api/endpoint-change`, bytes: 4 MiB. */
export const CHANGES_BYTES = 4 * 1024 * 1024

/** The response header with the id of the bulk change. */
export const CHANGE_ID_HEADER = 'Gatehouse-Change'

const mapping = z.array(z.string()).check(z.maxLength(MAPPING_NAMES, 'at most 1,000 names'))

/** A configured endpoint (docs/http-api.md, "Endpoints"). */
export const endpointRecord = z.object({
  endpoint: z
    .string()
    .check(z.describe('the address in canonical form, such as tcp://127.0.0.1:8530')),
  databases: z
    .array(z.string())
    .check(z.describe('empty for all databases; the first one is the default database')),
})

export type EndpointRecord = z.infer<typeof endpointRecord>

/** Query of `GET /_api/endpoint`. Unknown addresses are omitted from the response. */
export const endpointQuery = z.object({
  endpoint: z.optional(
    z
      .array(z.string())
      .check(
        z.maxLength(QUERY_ADDRESSES, 'at most 200 addresses'),
        z.describe('returns only these addresses; can be repeated up to 200 times'),
      ),
  ),
})

/** Query of a route that names one endpoint in its query. Another route has it in the path. */
export const addressQuery = z.object({
  endpoint: z
    .string()
    .check(
      z.minLength(1, 'must not be empty'),
      z.describe('the address, such as tcp://127.0.0.1:8530; need not be encoded'),
    ),
})

/** Response of `GET /_api/endpoint`, sorted by address. */
export const endpointList = z.array(endpointRecord)

/** Body of `POST /_api/endpoint`. Unknown keys, such as `database`, are ignored. */
export const endpointInput = z.object({
  endpoint: z.string(),
  databases: mapping,
})

export type EndpointInput = z.infer<typeof endpointInput>

/** Returns the failure of a change after which no endpoint would serve `_system`. */
export const onlyAdminEndpoint = () =>
  new Failure(
    'conflict',
    'This is the only endpoint that serves _system, so the server could not be administered without it. ' +
      'Add another one first.',
  )
