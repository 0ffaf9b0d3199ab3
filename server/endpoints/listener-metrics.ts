import { DURATION_BOUNDS } from '../contract/endpoints/traffic.ts'
import type { Listener } from './listeners/listener.ts'
import { Traffic } from './traffic.ts'

/** An endpoint, with the counters of all its listeners. */
interface Endpoint {
  /** Its label. */
  readonly label: string
  /** Several if it was removed and added again while its connections drain. */
  readonly listeners: readonly Listener[]
  readonly totals: Pick<Listener, 'traffic' | 'bytes'>
}

interface ListenerMetric {
  readonly name: string
  readonly help: string
  readonly type: 'gauge' | 'counter' | 'histogram'
  /** Returns the lines of an endpoint. */
  readonly lines: (endpoint: Endpoint) => string
}

/** Returns a line for each state of the listeners. */
function linesByState(
  name: string,
  { label, listeners }: Endpoint,
  count: (listeners: readonly Listener[]) => number,
): string {
  let lines = ''
  for (const [state, some] of Map.groupBy(listeners, (each) => each.state))
    lines += `${name}{${label},state="${state}"} ${count(some)}\n`
  return lines
}

const METRICS: readonly ListenerMetric[] = [
  {
    name: 'gatehouse_connections',
    help: 'Open connections',
    type: 'gauge',
    lines: (endpoint) =>
      linesByState('gatehouse_connections', endpoint, (listeners) =>
        listeners.reduce((total, { connections }) => total + connections, 0),
      ),
  },
  {
    name: 'gatehouse_listener',
    help: 'Number of listeners by state',
    type: 'gauge',
    lines: (endpoint) => linesByState('gatehouse_listener', endpoint, ({ length }) => length),
  },
  {
    name: 'gatehouse_requests_total',
    help: 'Completed requests',
    type: 'counter',
    lines: ({ label, totals: { traffic } }) => {
      let lines = ''
      for (const [status, count] of traffic.statuses)
        lines += `gatehouse_requests_total{${label},status="${status}"} ${count}\n`
      return lines
    },
  },
  {
    name: 'gatehouse_refused_connections_total',
    help: 'Connections that the policy closed before anything was read',
    type: 'counter',
    lines({ label, totals: { traffic } }) {
      let lines = ''
      for (const [rule, count] of Object.entries(traffic.refused))
        if (count > 0)
          lines += `gatehouse_refused_connections_total{${label},rule="${rule}"} ${count}\n`
      return lines
    },
  },
  {
    name: 'gatehouse_received_bytes_total',
    help: 'Bytes received',
    type: 'counter',
    lines: ({ label, totals: { bytes } }) =>
      `gatehouse_received_bytes_total{${label}} ${bytes.in}\n`,
  },
  {
    name: 'gatehouse_sent_bytes_total',
    help: 'Bytes sent',
    type: 'counter',
    lines: ({ label, totals: { bytes } }) => `gatehouse_sent_bytes_total{${label}} ${bytes.out}\n`,
  },
  {
    name: 'gatehouse_request_duration_seconds',
    help: 'Seconds from receiving the request headers to writing the response',
    type: 'histogram',
    lines: ({ label, totals: { traffic } }) => {
      if (traffic.requests === 0) return ''
      const { buckets, seconds } = traffic.durations
      const name = 'gatehouse_request_duration_seconds'
      let lines = ''
      let total = 0
      for (const [at, count] of buckets.entries()) {
        total += count
        lines += `${name}_bucket{le="${DURATION_BOUNDS[at] ?? '+Inf'}",${label}} ${total}\n`
      }
      return `${lines}${name}_sum{${label}} ${seconds}\n${name}_count{${label}} ${total}\n`
    },
  },
]

/** Number of endpoints printed per part; their histograms take about a millisecond. */
const ENDPOINTS = 50

/**
 * Yields the metrics of all listeners in the Prometheus text format, in parts of a few
 * milliseconds.
 */
export function* printListenerMetrics(listeners: readonly Listener[]): Generator<string, void> {
  const endpoints = [...Map.groupBy(listeners, ({ name }) => name)].map(toEndpoint)
  for (const { name, help, type, lines } of METRICS) {
    let text = `\n# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`
    for (const [at, endpoint] of endpoints.entries()) {
      text += lines(endpoint)
      if (at % ENDPOINTS < ENDPOINTS - 1) continue
      yield text
      text = ''
    }
    yield text
  }
}

const toEndpoint = ([name, listeners]: [string, readonly Listener[]]): Endpoint => ({
  label: `endpoint="${escaped(name)}"`,
  listeners,
  totals: totalsOf(listeners),
})

/** Adds up the counters of the listeners of one endpoint, and those they have inherited. */
function totalsOf(listeners: readonly Listener[]): Endpoint['totals'] {
  const [first] = listeners
  if (first !== undefined && listeners.length === 1 && first.inherited === undefined) return first
  const traffic = new Traffic()
  const bytes = { in: 0, out: 0 }
  for (const { traffic: own, inherited, bytes: ownBytes } of listeners) {
    traffic.add(own)
    bytes.in += ownBytes.in + (inherited?.bytesIn ?? 0)
    bytes.out += ownBytes.out + (inherited?.bytesOut ?? 0)
    if (inherited !== undefined) traffic.add(inherited)
  }
  return { traffic, bytes }
}

/** Escapes a label value. */
const escaped = (text: string) =>
  text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
