import * as z from 'zod/mini'

/** Duration of a traffic sample, seconds. */
export const SAMPLE_SECONDS = 5

/** Number of samples that are kept: an hour. */
export const SAMPLES = 720

/**
 * Upper bounds of the request duration histogram, in seconds. One more bucket counts everything
 * above the last bound.
 */
export const DURATION_BOUNDS: readonly number[] = Object.freeze([
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
])

const samples = (what: string) => z.array(z.nullable(z.int())).check(z.describe(what))

/** The traffic of an endpoint on one node: 720 samples of each kind, oldest first. */
const nodeTraffic = z.object({
  node: z.string(),
  requests: samples('completed in each sample; null for unknown values'),
  errors: samples('requests with a status of 400 or higher'),
  bytesIn: samples('received in each sample'),
  bytesOut: samples('sent in each sample'),
  connections: samples('open when each sample ended'),
})

export type NodeTraffic = z.infer<typeof nodeTraffic>

/** Response of `GET /_api/listener/<address>/traffic`: the last hour of one endpoint. */
export const endpointTraffic = z.object({
  endpoint: z.string(),
  until: z.string().check(z.describe('when the last sample ended, ISO 8601, UTC')),
  sampleSeconds: z.int().check(z.describe('length of a sample in seconds: 5')),
  nodes: z.array(nodeTraffic),
})

export type EndpointTraffic = z.infer<typeof endpointTraffic>
