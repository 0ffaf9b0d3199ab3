import * as z from 'zod/mini'
import { parseAddress } from './endpoints/address.ts'
import { lastMinute } from './endpoints/listener.ts'
import { SEVERITY } from './endpoints/listener-state.ts'

/** The steps of each range: their number and length, in minutes. */
export const TRAFFIC_RANGES = {
  '1h': { steps: 60, minutes: 1 },
  '24h': { steps: 144, minutes: 10 },
} as const

/** Number of endpoints whose traffic a node stores each minute: the busiest ones. */
export const STORED_ENDPOINTS = 100

/** Number of endpoints that the total of a reader who is limited to databases adds up. */
export const SUMMED_ENDPOINTS = 50

/** Query of `GET /_api/traffic`. */
export const trafficQuery = z.object({
  endpoint: z.optional(
    z.string().check(
      z.refine((text) => parseAddress(text).ok, 'is not an address'),
      z.describe('only this endpoint; default: all endpoints that you may see'),
    ),
  ),
  range: z._default(
    z.enum(['1h', '24h'], 'must be 1h or 24h').check(z.describe('1h: 60 steps; 24h: 144')),
    '1h',
  ),
})

export type TrafficRange = keyof typeof TRAFFIC_RANGES

/** Query of `GET /_api/traffic/endpoint`. */
export const endpointTrafficQuery = z.pick(trafficQuery, { range: true })

const sums = {
  requests: z.int(),
  rejected: lastMinute.shape.rejected,
  failed: lastMinute.shape.failed,
  durations: z
    .array(z.int())
    .check(z.describe('answered requests in each bucket of bounds, and above the last one')),
}

const trafficStep = z.object({
  ...sums,
  open: z.optional(z.int().check(z.describe('endpoints that listened; only without endpoint'))),
})

export type TrafficStep = z.infer<typeof trafficStep>

const until = z.string().check(z.describe('when the last step ended, ISO 8601, UTC'))
const bounds = z.array(z.number()).check(z.describe('upper bounds of the durations, seconds'))

/** Response of `GET /_api/traffic`. */
export const traffic = z.object({
  until,
  stepSeconds: z.int(),
  bounds,
  steps: z
    .array(z.nullable(trafficStep))
    .check(z.describe('oldest first, all nodes together; null while no node was running')),
  lastMinute: lastMinute.check(z.describe('up to now')),
  endpoints: z
    .partialRecord(z.enum(SEVERITY), z.int())
    .check(z.describe('number of endpoints in each state now')),
})

export type Traffic = z.infer<typeof traffic>

/** Response of `GET /_api/traffic/endpoint`. */
export const endpointTraffic = z.object({
  until,
  bounds,
  endpoints: z
    .array(z.object({ endpoint: z.string(), ...sums }))
    .check(z.describe('those with stored requests, all nodes together, by address')),
})

export type EndpointTraffic = z.infer<typeof endpointTraffic>

/** Kinds of things that need a person, most urgent first. */
export const ATTENTION_KINDS = [
  'endpoint-failed',
  'disk-full',
  'webhook-paused',
  'webhook-failing',
  'certificate-failed',
  'certificate-expires',
  'database-missing',
  'person-waiting',
  'token-expires',
] as const

/** Maximum number of entries of each kind. */
export const ATTENTION_ENTRIES = 50

const attentionItem = z.object({
  kind: z.enum(ATTENTION_KINDS),
  target: z
    .string()
    .check(z.describe('the address, name, user name, <owner>/<token>, or folder of what it is')),
  since: z
    .nullable(z.string())
    .check(z.describe('when it began; of *-expires, when it expires; null if unknown')),
  detail: z.nullable(z.string()).check(z.describe('the reason, or the name of a person')),
})

export type AttentionItem = z.infer<typeof attentionItem>

/** Response of `GET /_api/attention`, the most urgent kind first. */
export const attention = z.array(attentionItem)
