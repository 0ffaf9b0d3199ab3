import * as z from 'zod/mini'
import { wholeNumber } from '../query/query-parameter.ts'
import { parseAddress } from './address.ts'
import { QUERY_ADDRESSES } from './endpoint.ts'
import { SAMPLE_SECONDS } from './traffic.ts'

/** The state of an endpoint's socket on one node. */
const listenerState = z.enum(['opening', 'listening', 'failed', 'draining', 'elsewhere', 'closed'])

export type ListenerState = z.infer<typeof listenerState>

const time = z.nullable(z.string().check(z.describe('ISO 8601, UTC')))

export const lastMinute = z.object({
  requests: z.int(),
  rejected: z
    .int()
    .check(
      z.describe(
        'with 401, 403, 421 or 429, or with 404 and errorNum 1228; and refused connections',
      ),
    ),
  failed: z.int().check(z.describe('with 5xx')),
})

export type LastMinute = z.infer<typeof lastMinute>

/** The listener of one endpoint on one node. Counters start at 0 when the socket is opened. */
export const listenerStatus = z.object({
  endpoint: z.string(),
  node: z.string(),
  bound: z.optional(
    z
      .string()
      .check(
        z.describe(
          'only if the host is a name and the state is listening: the address with the IP address ' +
            'that the name resolved to on this node',
        ),
      ),
  ),
  state: listenerState,
  error: z.nullable(
    z.string().check(z.describe('human-readable reason of the state failed, otherwise null')),
  ),
  systemCode: z.optional(z.string().check(z.describe('of the error, such as EADDRINUSE'))),
  failingSince: z.optional(
    z.string().check(z.describe('when the first of its failures in a row was, ISO 8601, UTC')),
  ),
  attempts: z.optional(z.int().check(z.describe('number of failures in a row'))),
  since: z.string().check(z.describe('when it entered this state, ISO 8601, UTC')),
  nextTry: time,
  drainUntil: time,
  revision: z.int().check(z.describe('revision of the endpoint, for If-Match')),
  connections: z.int().check(z.describe('open now')),
  requests: z.int(),
  requestsPerSecond: z.number().check(z.describe('average of the last 5 s')),
  bytesIn: z.int(),
  bytesOut: z.int(),
  lastRequest: time,
  // A node of an older version reports none.
  lastMinute: z.optional(lastMinute),
  silentSince: z.optional(
    z
      .string()
      .check(
        z.describe(
          'only if the node has not reported for 12 s: the time of its last report, ISO 8601, UTC; ' +
            'all other fields are as of then',
        ),
      ),
  ),
  recent: z.optional(
    z
      .array(z.nullable(z.number()))
      .check(
        z.describe(
          `only if requested: requests per second in each of the last samples of ${SAMPLE_SECONDS} s, ` +
            'oldest first; null for unknown values',
        ),
      ),
  ),
})

export type ListenerStatus = z.infer<typeof listenerStatus>

const address = z.string().check(z.refine((text) => parseAddress(text).ok, 'is not an address'))

/** Query of `GET /_api/listener`. An empty query returns every listener. */
export const listenerQuery = z
  .object({
    endpoint: z.optional(
      z
        .array(address)
        .check(
          z.maxLength(QUERY_ADDRESSES, 'at most 200 addresses'),
          z.describe(
            'returns only the listeners of these endpoints; can be repeated up to 200 times',
          ),
        ),
    ),
    recent: z.optional(
      wholeNumber(1, 60).check(
        z.describe('number of samples for each listener; requires endpoint'),
      ),
    ),
  })
  .check(
    z.refine(({ endpoint, recent }) => recent === undefined || endpoint !== undefined, {
      path: ['recent'],
      error: 'requires endpoint',
    }),
  )

/**
 * Response of `GET /_api/listener`, sorted by address. A draining listener is listed beside its
 * successor.
 */
export const listenerList = z.array(listenerStatus)

/** Number of ports that are tried to find a free one. */
export const PROBED_PORTS = 20

/** Query of `GET /_api/address`. */
export const addressListQuery = z.object({
  near: z.optional(
    wholeNumber(1, 65_535).check(
      z.describe('adds freePort to each address; requires the role operator'),
    ),
  ),
})

/** Response of `GET /_api/address`: the addresses of this machine that endpoints can listen on. */
export const addressList = z.array(
  z.object({
    host: z.string().check(z.describe('in the form used in an address, with IPv6 in brackets')),
    family: z.enum(['IPv4', 'IPv6']),
    interface: z.string(),
    loopback: z.boolean(),
    freePort: z.optional(
      z
        .nullable(z.int())
        .check(z.describe(`the first free port from near on; null if ${PROBED_PORTS} are taken`)),
    ),
  }),
)

export type AddressList = z.infer<typeof addressList>
