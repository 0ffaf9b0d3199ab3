import * as z from 'zod/mini'

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
})

/** {@link listenerStatus} as a type. */
export type ListenerStatus = z.infer<typeof listenerStatus>

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
