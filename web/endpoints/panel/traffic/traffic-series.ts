import type { EndpointTraffic, NodeTraffic } from '../../../server/contract/traffic.ts'

/** What a chart shows: two figures over the same time, or one. */
export type TrafficKind = 'requests' | 'bytes' | 'connections'

/** A figure over the last hour; null: nothing is known of that time. */
export interface Series {
  /** Its unit, as it stands behind a number: "requests/s". */
  readonly unit: string
  readonly values: readonly (number | null)[]
}

/** The last hour of an endpoint, all its nodes together. */
export interface TrafficSeries {
  /** When each sample began, seconds since 1970. */
  readonly times: readonly number[]
  /** When the last one ended. */
  readonly end: number
  readonly figures: readonly Series[]
}

/** Of a short past at least this much is drawn, in samples: ten minutes. */
const LEAST = 120

/** The part that is worth drawing: from where something is known, and of a short past some more. */
export function knownPart({ times, end, figures }: TrafficSeries): TrafficSeries {
  const known = figures[0]?.values.findIndex((n) => n !== null) ?? -1
  const latest = Math.max(0, times.length - LEAST)
  const first = known === -1 ? latest : Math.min(known, latest)
  const cut = ({ unit, values }: Series) => ({ unit, values: values.slice(first) })
  return { times: times.slice(first), end, figures: figures.map(cut) }
}

type Counted = Exclude<keyof NodeTraffic, 'node'>

const parts: Readonly<Record<TrafficKind, readonly { of: Counted; unit: string }[]>> = {
  requests: [
    { of: 'requests', unit: 'requests/s' },
    { of: 'errors', unit: 'errors/s' },
  ],
  bytes: [
    { of: 'bytesIn', unit: 'received/s' },
    { of: 'bytesOut', unit: 'sent/s' },
  ],
  connections: [{ of: 'connections', unit: 'connections' }],
}

/** The figures of a kind: rates per second, of connections how many were open. */
export function seriesOf(traffic: EndpointTraffic, kind: TrafficKind): TrafficSeries {
  const { sampleSeconds, nodes } = traffic
  const end = Date.parse(traffic.until) / 1_000
  const length = nodes[0]?.requests.length ?? 0
  return {
    end,
    times: Array.from({ length }, (_, at) => end - (length - at) * sampleSeconds),
    figures: parts[kind].map(({ of, unit }) => ({
      unit,
      values: addUp(nodes, of).map((n) =>
        n === null || kind === 'connections' ? n : n / sampleSeconds,
      ),
    })),
  }
}

/** Known where one node knows it. */
const addUp = (nodes: readonly NodeTraffic[], of: Counted): (number | null)[] =>
  (nodes[0]?.[of] ?? []).map((_, at) =>
    nodes.reduce<number | null>((sum, node) => {
      const n = node[of][at] ?? null
      return n === null ? sum : (sum ?? 0) + n
    }, null),
  )

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })
const tenth = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })
const units = ['B', 'kB', 'MB', 'GB', 'TB']

/** "0 B", "812 B", "1.2 kB", "48 MB": in thousands. */
export function sayBytes(bytes: number): string {
  let [amount, unit] = [bytes, 0]
  while (amount >= 999.5 && unit < units.length - 1) {
    amount /= 1_000
    unit += 1
  }
  return `${(unit > 0 && amount < 9.95 ? tenth : whole).format(amount)} ${units[unit]}`
}

/** A figure of a kind: "12.4", "1.2 kB"; "–" where nothing is known. */
export function sayFigure(kind: TrafficKind, amount: number | null | undefined): string {
  if (amount === null || amount === undefined) return '–'
  if (kind === 'bytes') return sayBytes(amount)
  return (amount < 10 ? tenth : whole).format(amount)
}

const hundredth = new Intl.NumberFormat('en', { maximumFractionDigits: 2 })

/** A figure at an axis, which has to be exact. */
export const sayTick = (kind: TrafficKind, amount: number): string =>
  kind === 'bytes' ? sayBytes(amount) : hundredth.format(amount)

const toMinute = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
})

/** A moment (seconds since 1970) as "14:02". */
export const sayMinute = (seconds: number): string => toMinute.format(seconds * 1_000)

const toSecond = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
})

/** A moment (seconds since 1970) as "14:02:05". */
export const sayMoment = (seconds: number): string => toSecond.format(seconds * 1_000)

/** The chart in words: how much there was, and when most of it. */
export function sayTraffic(traffic: EndpointTraffic, kind: TrafficKind): string {
  const { sampleSeconds, nodes } = traffic
  const total = (of: Counted) => addUp(nodes, of).reduce<number>((sum, n) => sum + (n ?? 0), 0)
  const { times, figures } = seriesOf(traffic, kind)
  const first = figures[0]?.values ?? []
  const known = first.filter((n) => n !== null).length
  if (known === 0) return 'Nothing is known yet: the first figures come within five seconds.'
  const span = saySpan(known * sampleSeconds)
  const most = Math.max(...first.map((n) => n ?? 0))
  const when = sayMinute(times[first.indexOf(most)] ?? 0)
  if (kind === 'connections') {
    if (most === 0) return `Nobody was connected in the last ${span}.`
    return `At most ${count(most, 'connection')} in the last ${span}, at ${when}.`
  }
  if (kind === 'bytes') {
    const [received, sent] = [total('bytesIn'), total('bytesOut')]
    if (received + sent === 0) return `No byte came or went in the last ${span}.`
    return `${sayBytes(received)} received and ${sayBytes(sent)} sent in the last ${span}.`
  }
  const requests = total('requests')
  if (requests === 0) return `No request in the last ${span}.`
  const errors = total('errors')
  return (
    `${count(requests, 'request')} in the last ${span}, ` +
    `${errors === 0 ? 'no errors' : count(errors, 'error')}; ` +
    `at most ${sayFigure(kind, most)} a second, at ${when}.`
  )
}

const count = (n: number, what: string) => `${whole.format(n)} ${what}${n === 1 ? '' : 's'}`

const HOUR = 3_600

function saySpan(seconds: number): string {
  if (seconds >= HOUR) return 'hour'
  return seconds < 100 ? `${seconds} seconds` : count(Math.round(seconds / 60), 'minute')
}
