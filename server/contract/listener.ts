import * as z from 'zod/mini'
import { parseAddress } from './address.ts'
import { QUERY_ADDRESSES } from './endpoint.ts'
import { SAMPLE_SECONDS } from './traffic.ts'

/** The states of a listener: what the socket of an endpoint does on one node. */
export const listenerState = z.enum(['opening', 'listening', 'failed', 'draining', 'elsewhere'])

/** {@link listenerState} as a type. */
export type ListenerState = z.infer<typeof listenerState>

const time = z.nullable(z.string().check(z.describe('ISO 8601, UTC')))

/** What runs for one endpoint on one node. Counters start at 0 when the socket is opened. */
export const listenerStatus = z.object({
  endpoint: z.string(),
  node: z.string(),
  state: listenerState,
  error: z.nullable(z.string().check(z.describe('why it failed, for people; null unless failed'))),
  since: z.string().check(z.describe('when it came into this state, ISO 8601, UTC')),
  nextTry: time,
  drainUntil: time,
  revision: z
    .number()
    .check(z.describe('of the endpoint: send it as If-Match to change just this one')),
  connections: z.number().check(z.describe('open now')),
  requests: z.number(),
  requestsPerSecond: z.number().check(z.describe('over the last 5 s')),
  bytesIn: z.number(),
  bytesOut: z.number(),
  lastRequest: time,
  silentSince: z.optional(
    z
      .string()
      .check(
        z.describe(
          'only where its node has not been heard of for 12 s: when it was last, ISO 8601, UTC; ' +
            'all else is as it was then',
        ),
      ),
  ),
  recent: z.optional(
    z
      .array(z.nullable(z.number()))
      .check(
        z.describe(
          `only where asked for: requests per second in each of the last samples of ${SAMPLE_SECONDS} s, ` +
            'oldest first; null where nothing is known',
        ),
      ),
  ),
})

/** {@link listenerStatus} as a type. */
export type ListenerStatus = z.infer<typeof listenerStatus>

const address = z.string().check(z.refine((text) => parseAddress(text).ok, 'is no address'))
const RECENT = 'a whole number from 1 to 60'

/** Query of `GET /_api/listener`. Without any part: every listener. */
export const listenerQuery = z
  .object({
    endpoint: z.optional(
      z
        .array(address)
        .check(
          z.maxLength(QUERY_ADDRESSES, 'at most 200 addresses'),
          z.describe('the listeners of these endpoints alone; may be given up to 200 times'),
        ),
    ),
    recent: z.optional(
      z
        .pipe(
          z.string().check(z.regex(/^[1-9][0-9]?$/, RECENT)),
          z.pipe(z.transform(Number), z.number().check(z.lte(60, RECENT))),
        )
        .check(z.describe('how many samples to give of each; with endpoint alone')),
    ),
  })
  .check(
    z.refine(({ endpoint, recent }) => recent === undefined || endpoint !== undefined, {
      path: ['recent'],
      error: 'goes with endpoint alone',
    }),
  )

/** Answer of `GET /_api/listener`, sorted by address; a draining one stands beside its successor. */
export const listenerList = z.array(listenerStatus)

/** Answer of `GET /_api/address`: what an endpoint can be opened on here. */
export const addressList = z.array(
  z.object({
    host: z.string().check(z.describe('as it is written in an address, IPv6 in brackets')),
    family: z.enum(['IPv4', 'IPv6']),
    interface: z.string(),
    loopback: z.boolean(),
  }),
)

/** {@link addressList} as a type. */
export type AddressList = z.infer<typeof addressList>
