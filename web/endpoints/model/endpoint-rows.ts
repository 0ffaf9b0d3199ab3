import { parseAddress } from '../../../server/contract/endpoints/address.ts'
import type { EndpointRecord } from '../../../server/contract/endpoints/endpoint.ts'
import type { ListenerStatus } from '../../../server/contract/endpoints/listener.ts'
import {
  type EndpointState,
  leadOf,
  stateOf,
} from '../../../server/contract/endpoints/listener-state.ts'
import type { Policy, PolicyRecord } from '../../../server/contract/endpoints/policy.ts'
import { compareNames } from '../../ui/text/compare-names.ts'
import { type Figures, sumFigures } from './live-figures.ts'

/** A table row: an endpoint with its listeners, or a removed endpoint that is draining. */
export interface EndpointRow extends Figures {
  /**
   * The address, with a suffix for a removed endpoint, because a new one may use the same address.
   */
  readonly id: string
  readonly address: string
  /** `null` for a removed endpoint. */
  readonly databases: readonly string[] | null
  readonly listeners: readonly ListenerStatus[]
  readonly state: EndpointState
  /** The listener that determines {@link state}, with its error and times. */
  readonly lead: ListenerStatus | undefined
  /** Sent as `If-Match`; `undefined` until a listener has reported it. */
  readonly revision: number | undefined
  /** `null` if the defaults apply; `undefined` until it is loaded, and for viewers. */
  readonly policy: Policy | null | undefined
  readonly policyRevision: number | undefined
}

/**
 * Joins endpoints with their listeners, sorted by address with numeric ports. Reuses rows of
 * `previous` whose parts are identical objects, so that React does not render them again.
 */
export function joinRows(
  endpoints: readonly EndpointRecord[],
  listeners: readonly ListenerStatus[],
  previous: ReadonlyMap<string, EndpointRow> = new Map(),
  policies?: readonly PolicyRecord[],
): EndpointRow[] {
  const records = new Map(policies?.map((record) => [record.endpoint, record]))
  const configured = new Set(endpoints.map(({ endpoint }) => endpoint))
  const alive = new Set(listeners.flatMap((one) => (one.state === 'draining' ? [] : keyOf(one))))
  const running = Map.groupBy(listeners, (one) => {
    // A draining listener belongs to a removed endpoint, unless its node is stopping: then the
    // endpoint is still configured and has no other listener on that node.
    const left =
      one.state === 'draining' && (alive.has(keyOf(one)) || !configured.has(one.endpoint))
    return left ? `${one.endpoint} draining` : one.endpoint
  })
  const rows = endpoints.map(({ endpoint, databases }) => {
    const record = records.get(endpoint)
    return reuse(previous, {
      ...makeRow(endpoint, endpoint, databases, running.get(endpoint) ?? []),
      policy: policies && (record?.policy ?? null),
      policyRevision: record?.revision,
    })
  })
  for (const [id, left] of running) {
    const address = left[0]?.endpoint ?? id
    // The endpoint was just removed: the endpoint list is newer than the listeners.
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
  const lead = leadOf(listeners)
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
        : // A node that is unreachable or behind reports an older revision.
          Math.max(...listeners.map(({ revision }) => revision)),
    policy: undefined,
    policyRevision: undefined,
    ...sumFigures(listeners.filter(({ silentSince }) => silentSince === undefined)),
  }
}

function reuse(previous: ReadonlyMap<string, EndpointRow>, row: EndpointRow): EndpointRow {
  const existing = previous.get(row.id)
  const same =
    existing !== undefined &&
    existing.databases === row.databases &&
    existing.policy === row.policy &&
    existing.policyRevision === row.policyRevision &&
    existing.listeners.length === row.listeners.length &&
    existing.listeners.every((listener, index) => listener === row.listeners[index])
  return same ? existing : row
}

function sortByAddress(rows: readonly EndpointRow[]): EndpointRow[] {
  const keyed = rows.map((row) => ({ row, ...keyOfAddress(row.address) }))
  const compareRest = (a: string, b: string) => (a === b ? 0 : compareNames(a, b))
  keyed.sort(
    (a, b) => compareRest(a.rest, b.rest) || a.port - b.port || (a.row.id < b.row.id ? -1 : 1),
  )
  return keyed.map(({ row }) => row)
}

/** Cache of sort keys by address, because parsing 10,000 addresses is slow. */
const keys = new Map<string, { readonly rest: string; readonly port: number }>()

function keyOfAddress(address: string) {
  const cached = keys.get(address)
  if (cached !== undefined) return cached
  const parsed = parseAddress(address)
  const port = parsed.ok && parsed.address.scheme !== 'unix' ? parsed.address.port : 0
  const key = { port, rest: port === 0 ? address : address.slice(0, -String(port).length) }
  keys.set(address, key)
  return key
}

/** Counts the rows in each state and the configured endpoints. */
export function countRows(rows: readonly EndpointRow[]) {
  const all = {
    endpoints: 0,
    listening: 0,
    failed: 0,
    opening: 0,
    draining: 0,
    elsewhere: 0,
    closed: 0,
    unknown: 0,
  }
  for (const { state, databases } of rows) {
    all[state] += 1
    if (databases !== null) all.endpoints += 1
  }
  return all
}
