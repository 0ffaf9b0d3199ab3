import * as z from 'zod/mini'
import { wholeNumber } from '../query/query-parameter.ts'
import { formatAddress, parseAddress } from './address.ts'
import { QUERY_ADDRESSES } from './endpoint.ts'

/** Why the server rejects a request that no rule of a policy rejects. */
export const REJECTIONS = ['host', 'database', 'credential', 'permission', 'rate', 'size'] as const

export type Rejection = (typeof REJECTIONS)[number]

/** A request that an endpoint of one node received, or a connection that it refused. */
export const requestEntry = z.object({
  id: z
    .int()
    .check(z.describe('unique on the node until it restarts; later entries have higher ids')),
  time: z.string().check(z.describe('when the response was sent, ISO 8601, UTC')),
  node: z.string(),
  endpoint: z.string(),
  client: z.nullable(
    z
      .string()
      .check(
        z.describe(
          'the IP address; null over a Unix socket, and for viewers if it is not their own request',
        ),
      ),
  ),
  method: z.nullable(z.string().check(z.describe('null: the connection was refused'))),
  path: z.nullable(
    z
      .string()
      .check(z.describe('without the query; segments that could be a token are replaced by …')),
  ),
  status: z.nullable(
    z.int().check(z.describe('null: the client disconnected first, or the connection was refused')),
  ),
  ms: z.nullable(z.number().check(z.describe('time from the request to the end of its response'))),
  bytes: z.int().check(z.describe('of the body of the response')),
  caller: z.nullable(
    z
      .string()
      .check(
        z.describe(
          '<provider>:<id>; null: not authenticated, or another person in the response to a viewer',
        ),
      ),
  ),
  token: z.nullable(z.string().check(z.describe('the name of the token that the caller sent'))),
  database: z.nullable(z.string()),
  rejected: z.nullable(
    z
      .string()
      .check(
        z.describe(
          `why it was rejected: the rule of the policy, otherwise ${REJECTIONS.join(', ')}`,
        ),
      ),
  ),
})

export type RequestEntry = z.infer<typeof requestEntry>

/** Response of `GET /_api/request`, newest first. */
export const requestList = z.array(requestEntry)

/** Requests that a stream of events follows. */
export interface RequestBatch {
  /** Newest first. */
  readonly requests: readonly RequestEntry[]
  /** Number of further requests that exceeded {@link STREAMED_PER_SECOND}. */
  readonly leftOut: number
  /** Whether they were recorded before the stream began. Only in its first batch. */
  readonly isFirst: boolean
}

/** Maximum number of requests that a stream sends per second. */
export const STREAMED_PER_SECOND = 50

/** Number of requests in a list. */
const LIST = { default: 200, max: 1_000 } as const

export const endpointAddress = z
  .string()
  .check(z.refine((text) => parseAddress(text).ok, 'is not an address'))

/** Query of `GET /_api/request`. An empty query selects the requests of all endpoints. */
export const requestQuery = z.object({
  endpoint: z.optional(
    z
      .array(endpointAddress)
      .check(
        z.maxLength(QUERY_ADDRESSES, 'at most 200 addresses'),
        z.describe('only requests of these endpoints; can be repeated up to 200 times'),
      ),
  ),
  status: z.optional(
    z
      .string()
      .check(
        z.regex(/^[1-5](?:xx|[0-9]{2})$/, 'a status such as 404, or a class such as 4xx'),
        z.describe('only requests with this status, or with a status of a class such as 4xx'),
      ),
  ),
  rejected: z.optional(
    z
      .enum(['true', 'false'], 'true or false')
      .check(z.describe('only requests that were rejected, or only others')),
  ),
  client: z.optional(
    z
      .string()
      .check(
        z.minLength(1, 'must not be empty'),
        z.describe('only requests of this IP address; viewers find only their own'),
      ),
  ),
  limit: z.optional(
    wholeNumber(1, LIST.max).check(
      z.describe(`maximum number of requests in the list; default ${LIST.default}`),
    ),
  ),
})

export type RequestQuery = z.infer<typeof requestQuery>

/** The requests that a query selects. */
export interface RequestFilter {
  /** Canonical addresses; undefined: all. */
  readonly endpoints: ReadonlySet<string> | undefined
  readonly status: string | undefined
  readonly isRejected: boolean | undefined
  readonly client: string | undefined
  readonly limit: number
}

/** Returns the filter of a valid query. */
export function toRequestFilter(query: RequestQuery): RequestFilter {
  const addresses = query.endpoint?.flatMap((text) => {
    const parsed = parseAddress(text)
    return parsed.ok ? [formatAddress(parsed.address)] : []
  })
  return {
    endpoints: addresses && new Set(addresses),
    status: query.status,
    isRejected: query.rejected === undefined ? undefined : query.rejected === 'true',
    client: query.client,
    limit: query.limit ?? LIST.default,
  }
}
