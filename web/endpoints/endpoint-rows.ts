import { parseAddress } from '../../server/contract/address.ts'
import type { EndpointRecord } from '../../server/contract/endpoint.ts'
import type { ListenerState, ListenerStatus } from '../../server/contract/listener.ts'

/** What a row can be in: what its worst listener is in, or nothing known. */
export type RowState = ListenerState | 'unknown'

/** A row of the table: an endpoint with its listeners, or what is left of a removed one. */
export interface EndpointRow {
  /** The address; that of a removed one that drains is marked, as a successor may stand beside. */
  readonly id: string
  readonly address: string
  /** `null` for a removed one: it has no mapping any more. */
  readonly databases: readonly string[] | null
  readonly listeners: readonly ListenerStatus[]
  readonly state: RowState
  /** The listener that is in {@link state}: it gives the reason and the times. */
  readonly lead: ListenerStatus | undefined
  /** To be sent as If-Match; `undefined` until a listener has told it. */
  readonly revision: number | undefined
  readonly connections: number
  readonly requestsPerSecond: number
  readonly lastRequest: string | null
}

// The worst leads. An endpoint that is open on another machine alone is in order.
const gravity: readonly RowState[] = [
  'failed',
  'unknown',
  'opening',
  'draining',
  'listening',
  'elsewhere',
]

/**
 * Joins endpoints with what runs, sorted by address with ports as numbers. Rows of `previous` whose
 * parts are the same objects are given again, so that they are not drawn again.
 */
export function joinRows(
  endpoints: readonly EndpointRecord[],
  listeners: readonly ListenerStatus[],
  previous: ReadonlyMap<string, EndpointRow> = new Map(),
): EndpointRow[] {
  const configured = new Set(endpoints.map(({ endpoint }) => endpoint))
  const alive = new Set(listeners.flatMap((one) => (one.state === 'draining' ? [] : keyOf(one))))
  const running = Map.groupBy(listeners, (one) => {
    // What drains was removed, unless a node is stopping: then its endpoint stays, and has no
    // other listener there.
    const left =
      one.state === 'draining' && (alive.has(keyOf(one)) || !configured.has(one.endpoint))
    return left ? `${one.endpoint} draining` : one.endpoint
  })
  const rows = endpoints.map(({ endpoint, databases }) =>
    reuse(previous, makeRow(endpoint, endpoint, databases, running.get(endpoint) ?? [])),
  )
  for (const [id, left] of running) {
    const address = left[0]?.endpoint ?? id
    // One that is neither configured nor draining was removed a moment ago: the list comes first.
    if (id !== address) rows.push(reuse(previous, makeRow(id, address, null, left)))
  }
  return sortByAddress(rows)
}

const keyOf = ({ endpoint, node }: ListenerStatus) => `${node} ${endpoint}`

function makeRow(
  id: string,
  address: string,
  databases: readonly string[] | null,
  listeners: readonly ListenerStatus[],
): EndpointRow {
  const lead = listeners.toSorted((a, b) => gravity.indexOf(a.state) - gravity.indexOf(b.state))[0]
  const sum = (of: (listener: ListenerStatus) => number) =>
    listeners.reduce((total, listener) => total + of(listener), 0)
  const times = listeners.flatMap(({ lastRequest }) => lastRequest ?? [])
  return {
    id,
    address,
    databases,
    listeners,
    state: lead?.state ?? 'unknown',
    lead,
    revision: databases === null ? undefined : lead?.revision,
    connections: sum(({ connections }) => connections),
    requestsPerSecond: sum(({ requestsPerSecond }) => requestsPerSecond),
    lastRequest: times.toSorted().at(-1) ?? null,
  }
}

function reuse(previous: ReadonlyMap<string, EndpointRow>, row: EndpointRow): EndpointRow {
  const known = previous.get(row.id)
  const same =
    known !== undefined &&
    known.databases === row.databases &&
    known.listeners.length === row.listeners.length &&
    known.listeners.every((listener, index) => listener === row.listeners[index])
  return same ? known : row
}

const collator = new Intl.Collator('en')

function sortByAddress(rows: readonly EndpointRow[]): EndpointRow[] {
  const keyed = rows.map((row) => {
    const parsed = parseAddress(row.address)
    const port = parsed.ok && parsed.address.scheme !== 'unix' ? parsed.address.port : 0
    const rest = port === 0 ? row.address : row.address.slice(0, -String(port).length)
    return { row, rest, port }
  })
  keyed.sort(
    (a, b) => collator.compare(a.rest, b.rest) || a.port - b.port || (a.row.id < b.row.id ? -1 : 1),
  )
  return keyed.map(({ row }) => row)
}

/** How many rows are in each state, and how many endpoints are configured. */
export function countRows(rows: readonly EndpointRow[]) {
  const count = (state: RowState) => rows.filter((row) => row.state === state).length
  return {
    endpoints: rows.filter(({ databases }) => databases !== null).length,
    listening: count('listening'),
    failed: count('failed'),
    opening: count('opening'),
    draining: count('draining'),
    elsewhere: count('elsewhere'),
    unknown: count('unknown'),
  }
}
