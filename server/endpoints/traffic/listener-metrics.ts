import type { Listener } from '../listeners/listener.ts'
import { DURATION_BOUNDS } from './traffic.ts'

interface ListenerMetric {
  readonly name: string
  readonly help: string
  readonly type: 'gauge' | 'counter' | 'histogram'
  /** Returns the lines of a listener; `endpoint` is its label. */
  readonly lines: (listener: Listener, endpoint: string) => string
}

const state = ({ state }: Listener, endpoint: string) => `{${endpoint},state="${state}"}`

const METRICS: readonly ListenerMetric[] = [
  {
    name: 'gatehouse_connections',
    help: 'Open connections',
    type: 'gauge',
    lines: (listener, endpoint) =>
      `gatehouse_connections${state(listener, endpoint)} ${listener.connections}\n`,
  },
  {
    name: 'gatehouse_listener',
    help: 'Listeners by state; the value is 1',
    type: 'gauge',
    lines: (listener, endpoint) => `gatehouse_listener${state(listener, endpoint)} 1\n`,
  },
  {
    name: 'gatehouse_requests_total',
    help: 'Completed requests',
    type: 'counter',
    lines: ({ traffic }, endpoint) => {
      let lines = ''
      for (const [status, count] of traffic.statuses)
        lines += `gatehouse_requests_total{${endpoint},status="${status}"} ${count}\n`
      return lines
    },
  },
  {
    name: 'gatehouse_received_bytes_total',
    help: 'Bytes received',
    type: 'counter',
    lines: ({ bytes }, endpoint) => `gatehouse_received_bytes_total{${endpoint}} ${bytes.in}\n`,
  },
  {
    name: 'gatehouse_sent_bytes_total',
    help: 'Bytes sent',
    type: 'counter',
    lines: ({ bytes }, endpoint) => `gatehouse_sent_bytes_total{${endpoint}} ${bytes.out}\n`,
  },
  {
    name: 'gatehouse_request_duration_seconds',
    help: 'Seconds from receiving the request headers to writing the response',
    type: 'histogram',
    lines: ({ traffic }, endpoint) => {
      if (traffic.requests === 0) return ''
      const { buckets, seconds } = traffic.durations
      const name = 'gatehouse_request_duration_seconds'
      let lines = ''
      let total = 0
      for (const [at, count] of buckets.entries()) {
        total += count
        lines += `${name}_bucket{le="${DURATION_BOUNDS[at] ?? '+Inf'}",${endpoint}} ${total}\n`
      }
      return `${lines}${name}_sum{${endpoint}} ${seconds}\n${name}_count{${endpoint}} ${total}\n`
    },
  },
]

/** Number of listeners printed per part; their histograms take about a millisecond. */
const LISTENERS = 50

/**
 * Yields the metrics of all listeners in the Prometheus text format, in parts of a few
 * milliseconds.
 */
export function* printListenerMetrics(listeners: readonly Listener[]): Generator<string, void> {
  for (const { name, help, type, lines } of METRICS) {
    let text = `\n# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`
    for (const [at, listener] of listeners.entries()) {
      text += lines(listener, `endpoint="${escaped(listener.name)}"`)
      if (at % LISTENERS < LISTENERS - 1) continue
      yield text
      text = ''
    }
    yield text
  }
}

/** Escapes a label value. */
const escaped = (text: string) =>
  text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
