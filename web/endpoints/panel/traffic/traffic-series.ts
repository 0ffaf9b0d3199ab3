import type { EndpointTraffic, NodeTraffic } from '../../../../server/contract/endpoints/traffic.ts'
import { formatBytes, formatCount, formatRate, NO_FIGURE } from '../../../ui/text/format-number.ts'

/** What a chart shows. */
export type TrafficKind = 'requests' | 'bytes' | 'connections'

/** A figure over the last hour; null where there is no data. */
export interface Series {
  /** The unit after a number: "requests/s". */
  readonly unit: string
  readonly values: readonly (number | null)[]
}

/** The last hour of an endpoint, summed over its nodes. */
export interface TrafficSeries {
  /** Start of each sample, seconds since 1970. */
  readonly times: readonly number[]
  /** End of the last sample, seconds since 1970. */
  readonly end: number
  readonly figures: readonly Series[]
}

/** Minimum number of samples drawn: ten minutes. */
const MIN_SAMPLES = 120

/** Returns the series from its first known sample, and at least {@link MIN_SAMPLES} samples. */
export function trimUnknownStart({ times, end, figures }: TrafficSeries): TrafficSeries {
  const firstKnown = figures[0]?.values.findIndex((n) => n !== null) ?? -1
  const latest = Math.max(0, times.length - MIN_SAMPLES)
  const first = firstKnown === -1 ? latest : Math.min(firstKnown, latest)
  const fromFirst = ({ unit, values }: Series) => ({ unit, values: values.slice(first) })
  return { times: times.slice(first), end, figures: figures.map(fromFirst) }
}

type Counted = Exclude<keyof NodeTraffic, 'node'>

const counters: Readonly<Record<TrafficKind, readonly { of: Counted; unit: string }[]>> = {
  requests: [
    { of: 'requests', unit: 'requests/s' },
    { of: 'errors', unit: 'rejected or failed/s' },
  ],
  bytes: [
    { of: 'bytesIn', unit: 'received/s' },
    { of: 'bytesOut', unit: 'sent/s' },
  ],
  connections: [{ of: 'connections', unit: 'connections' }],
}

/** Returns the figures of a kind: rates per second, or the number of open connections. */
export function seriesOf(traffic: EndpointTraffic, kind: TrafficKind): TrafficSeries {
  const { sampleSeconds, nodes } = traffic
  const end = Date.parse(traffic.until) / 1_000
  const length = nodes[0]?.requests.length ?? 0
  return {
    end,
    times: Array.from({ length }, (_, at) => end - (length - at) * sampleSeconds),
    figures: counters[kind].map(({ of, unit }) => ({
      unit,
      values: sumSeries(nodes, of).map((n) =>
        n === null || kind === 'connections' ? n : n / sampleSeconds,
      ),
    })),
  }
}

/** Adds up the nodes; a sample is null only if no node has it. */
const sumSeries = (nodes: readonly NodeTraffic[], of: Counted): (number | null)[] =>
  (nodes[0]?.[of] ?? []).map((_, at) =>
    nodes.reduce<number | null>((sum, node) => {
      const n = node[of][at] ?? null
      return n === null ? sum : (sum ?? 0) + n
    }, null),
  )

/** Formats a figure: "12.4", "1.2 kB", or "–" if it is unknown. */
export function formatFigure(kind: TrafficKind, amount: number | null | undefined): string {
  if (amount === null || amount === undefined) return NO_FIGURE
  if (kind === 'bytes') return formatBytes(amount)
  return formatRate(amount)
}

const hundredth = new Intl.NumberFormat('en', { maximumFractionDigits: 2 })

/** Formats an axis label, with up to two decimals so that labels stay exact. */
export const formatTick = (kind: TrafficKind, amount: number): string =>
  kind === 'bytes' ? formatBytes(amount) : hundredth.format(amount)

const toMinute = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
})

/** Formats a time in seconds since 1970 as "14:02". */
export const formatMinute = (seconds: number): string => toMinute.format(seconds * 1_000)

const toSecond = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
})

/** Formats a time in seconds since 1970 as "14:02:05". */
export const formatMoment = (seconds: number): string => toSecond.format(seconds * 1_000)

/** Summarizes a chart: totals and the peak. */
export function formatTraffic(traffic: EndpointTraffic, kind: TrafficKind): string {
  const { sampleSeconds, nodes } = traffic
  const total = (of: Counted) => sumSeries(nodes, of).reduce<number>((sum, n) => sum + (n ?? 0), 0)
  const { times, figures } = seriesOf(traffic, kind)
  const first = figures[0]?.values ?? []
  const samples = first.filter((n) => n !== null).length
  if (samples === 0) return 'No data yet. The first figures arrive within five seconds.'
  const span = formatSpan(samples * sampleSeconds)
  const highest = Math.max(...first.map((n) => n ?? 0))
  const when = formatMinute(times[first.indexOf(highest)] ?? 0)
  if (kind === 'connections') {
    if (highest === 0) return `No connections in the last ${span}.`
    return `At most ${count(highest, 'connection')} in the last ${span}, at ${when}.`
  }
  if (kind === 'bytes') {
    const [received, sent] = [total('bytesIn'), total('bytesOut')]
    if (received + sent === 0) return `No data received or sent in the last ${span}.`
    return `${formatBytes(received)} received and ${formatBytes(sent)} sent in the last ${span}.`
  }
  const requests = total('requests')
  if (requests === 0) return `No requests in the last ${span}.`
  const errors = total('errors')
  return (
    `${count(requests, 'request')} in the last ${span}, ` +
    `${errors === 0 ? 'none' : formatCount(errors)} rejected or failed; ` +
    `at most ${formatFigure(kind, highest)} a second, at ${when}.`
  )
}

const count = (n: number, what: string) => `${formatCount(n)} ${what}${n === 1 ? '' : 's'}`

const HOUR = 3_600

function formatSpan(seconds: number): string {
  if (seconds >= HOUR) return 'hour'
  return seconds < 100 ? `${seconds} seconds` : count(Math.round(seconds / 60), 'minute')
}
