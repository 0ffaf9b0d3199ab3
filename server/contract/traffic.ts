import * as z from 'zod/mini'

/** How long a sample of the traffic of an endpoint lasts, seconds. */
export const SAMPLE_SECONDS = 5

/** How many samples are kept: an hour. */
export const SAMPLES = 720

const samples = (what: string) => z.array(z.nullable(z.number())).check(z.describe(what))

/** What went through an endpoint on one node; of each kind 720 samples, oldest first. */
export const nodeTraffic = z.object({
  node: z.string(),
  requests: samples('answered in each sample; null: nothing is known of that time'),
  errors: samples('of the requests, those answered with a status of 400 or more'),
  bytesIn: samples('received in each sample'),
  bytesOut: samples('sent in each sample'),
  connections: samples('open when each sample ended'),
})

/** {@link nodeTraffic} as a type. */
export type NodeTraffic = z.infer<typeof nodeTraffic>

/** Answer of `GET /_api/listener/<address>/traffic`: the last hour of one endpoint. */
export const endpointTraffic = z.object({
  endpoint: z.string(),
  until: z.string().check(z.describe('when the last sample ended, ISO 8601, UTC')),
  sampleSeconds: z.number().check(z.describe('how long a sample lasts: 5')),
  nodes: z.array(nodeTraffic),
})

/** {@link endpointTraffic} as a type. */
export type EndpointTraffic = z.infer<typeof endpointTraffic>
