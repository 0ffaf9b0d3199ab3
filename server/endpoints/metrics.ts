import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import type { Listener } from './listener.ts'
import { DURATION_BOUNDS } from './traffic.ts'

/**
 * Makes the metrics of a node: of its process, and of each endpoint its connections, requests by
 * status, durations in seconds and bytes. Everything is read off the listeners when it is asked for,
 * so a request costs nothing here, and an endpoint that is removed is gone from the next answer.
 */
export function createMetrics(
  listeners: () => readonly Listener[],
  unsent: () => number = () => 0,
): Registry {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })

  new Gauge({
    name: 'gatehouse_unsent_response_bytes',
    help: 'Bytes of responses that are being prepared or that clients have not read yet',
    registers: [registry],
    collect() {
      this.set(unsent())
    },
  })

  const gauge = (name: string, help: string, read: (listener: Listener) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ['endpoint', 'state'],
      registers: [registry],
      collect() {
        this.reset()
        for (const listener of listeners()) {
          this.inc({ endpoint: listener.name, state: listener.state }, read(listener))
        }
      },
    })
  gauge('gatehouse_connections', 'Open connections', (listener) => listener.connections)
  gauge('gatehouse_listener', '1 for each listener, by its state', () => 1)

  const counter = (
    name: string,
    help: string,
    labelNames: string[],
    read: (listener: Listener) => Iterable<[Record<string, string | number>, number]>,
  ) =>
    new Counter({
      name,
      help,
      labelNames: ['endpoint', ...labelNames],
      registers: [registry],
      collect() {
        this.reset()
        for (const listener of listeners()) {
          for (const [labels, value] of read(listener)) {
            this.inc({ endpoint: listener.name, ...labels }, value)
          }
        }
      },
    })
  counter('gatehouse_requests_total', 'Answered requests', ['status'], (listener) =>
    listener.traffic.statuses.entries().map(([status, count]) => [{ status }, count]),
  )
  counter('gatehouse_received_bytes_total', 'Bytes received', [], (listener) => [
    [{}, listener.bytes.in],
  ])
  counter('gatehouse_sent_bytes_total', 'Bytes sent', [], (listener) => [[{}, listener.bytes.out]])

  // prom-client's own Histogram takes single observations alone; the buckets are counted already.
  registry.registerMetric(new DurationHistogram(listeners) as unknown as Gauge)
  return registry
}

interface Sample {
  readonly metricName: string
  readonly labels: Record<string, string | number>
  readonly value: number
}

/** A histogram in prom-client's form (`get`), made of buckets that were counted elsewhere. */
class DurationHistogram {
  readonly name = 'gatehouse_request_duration_seconds'
  readonly help = 'From the head of a request read to its answer written, seconds'
  readonly type = 'histogram'
  readonly aggregator = 'sum'
  readonly #listeners: () => readonly Listener[]

  constructor(listeners: () => readonly Listener[]) {
    this.#listeners = listeners
  }

  async get() {
    const values = this.#listeners()
      .filter((listener) => listener.traffic.requests > 0)
      .flatMap((listener) => this.#samples(listener))
    return { ...this, values }
  }

  /** Nothing is kept here, so there is nothing to forget. */
  reset(): void {}

  #samples(listener: Listener): Sample[] {
    const endpoint = listener.name
    const { buckets, seconds } = listener.traffic.durations
    let total = 0
    const samples = Array.from(buckets, (count, at): Sample => {
      total += count
      const le = DURATION_BOUNDS[at] ?? '+Inf'
      return { metricName: `${this.name}_bucket`, labels: { le, endpoint }, value: total }
    })
    samples.push({ metricName: `${this.name}_sum`, labels: { endpoint }, value: seconds })
    samples.push({ metricName: `${this.name}_count`, labels: { endpoint }, value: total })
    return samples
  }
}
