import { parseAddress } from '../../server/contract/address.ts'
import type { EndpointRecord } from '../../server/contract/endpoint.ts'
import type { ListenerState, ListenerStatus } from '../../server/contract/listener.ts'
import { sumFigures } from './live-figures.ts'

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

/** The states, the worst first: it leads. An endpoint open on another machine alone is in order. */
export const GRAVITY: readonly RowState[] = [
  'failed',
  'unknown',
  'opening',
  'draining',
  'listening',
  'elsewhere',
]

/** What a listener is in now; of one whose node fell silent nothing is known. */
export const stateOf = ({ state, silentSince }: ListenerStatus): RowState =>
  silentSince === undefined ? state : 'unknown'

/** The worst of several states; `unknown` of none. */
export const gravestOf = (states: readonly RowState[]): RowState =>
  GRAVITY.find((state) => states.includes(state)) ?? 'unknown'

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
  const lead = listeners.reduce<ListenerStatus | undefined>(
    (worst, one) => (worst === undefined || isWorse(one, worst) ? one : worst),
    undefined,
  )
  return {
    id,
    address,
    databases,
    listeners,
    state: lead === undefined ? 'unknown' : stateOf(lead),
    lead,
    revision:
      databases === null || lead === undefined
        ? undefined
        : // A node that fell silent, or is a moment behind, tells an old one.
          Math.max(...listeners.map(({ revision }) => revision)),
    ...sumFigures(listeners.filter(({ silentSince }) => silentSince === undefined)),
  }
}

const isWorse = (a: ListenerStatus, b: ListenerStatus) =>
  GRAVITY.indexOf(stateOf(a)) < GRAVITY.indexOf(stateOf(b))

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
  const keyed = rows.map((row) => ({ row, ...keyOfAddress(row.address) }))
  const compareRest = (a: string, b: string) => (a === b ? 0 : collator.compare(a, b))
  keyed.sort(
    (a, b) => compareRest(a.rest, b.rest) || a.port - b.port || (a.row.id < b.row.id ? -1 : 1),
  )
  return keyed.map(({ row }) => row)
}

/** What an address is sorted by; parsed once each, as ten thousand take their time. */
const keys = new Map<string, { readonly rest: string; readonly port: number }>()

function keyOfAddress(address: string) {
  const known = keys.get(address)
  if (known !== undefined) return known
  const parsed = parseAddress(address)
  const port = parsed.ok && parsed.address.scheme !== 'unix' ? parsed.address.port : 0
  const key = { port, rest: port === 0 ? address : address.slice(0, -String(port).length) }
  keys.set(address, key)
  return key
}

/** How many rows are in each state, and how many endpoints are configured. */
export function countRows(rows: readonly EndpointRow[]) {
  const all = {
    endpoints: 0,
    listening: 0,
    failed: 0,
    opening: 0,
    draining: 0,
    elsewhere: 0,
    unknown: 0,
  }
  for (const { state, databases } of rows) {
    all[state] += 1
    if (databases !== null) all.endpoints += 1
  }
  return all
}
