import { networkInterfaces } from 'node:os'
import { Hono } from 'hono'
import { atLeast } from '../contract/access/principal.ts'
import { createEndpointView, type Scope } from '../contract/access/scope.ts'
import { acknowledge, acknowledgement } from '../contract/acknowledgement.ts'
import { formatHost, parseAddress } from '../contract/endpoints/address.ts'
import { addressQuery } from '../contract/endpoints/endpoint.ts'
import {
  type AddressList,
  addressList,
  addressListQuery,
  type ListenerStatus,
  listenerList,
  listenerQuery,
  PROBED_PORTS,
} from '../contract/endpoints/listener.ts'
import {
  type EndpointTraffic,
  endpointTraffic,
  SAMPLE_SECONDS,
} from '../contract/endpoints/traffic.ts'
import { Failure, requireConnected } from '../failure.ts'
import type { AppEnv } from '../http/env.ts'
import { principalOf, type RequireRole } from '../http/guards/require-role.ts'
import { queryInput } from '../http/input/query-input.ts'
import { pathAddress } from '../http/input/url.ts'
import { describe } from '../http/openapi/describe.ts'
import type { SendList } from '../http/output/send-list.ts'
import { canonicalAddress } from './address.ts'
import type { CheckLimit } from './check/check-limit.ts'
import { listenerStatus } from './listener-status.ts'
import type { Listener } from './listeners/listener.ts'
import type { EndpointRegistry } from './registry/registry.ts'
import { recentRates, sampleEnd } from './traffic.ts'

export interface ListenerRoutesDeps {
  readonly endpoints: EndpointRegistry
  readonly node: string
  /** Returns the last reported listeners of the other live nodes. */
  readonly others: () => readonly ListenerStatus[]
  readonly requireRole: RequireRole
  readonly sendList: SendList
}

/**
 * `/_api/listener`: the listeners of this node, read from its sockets, and of other nodes, as they
 * last reported them.
 */
export const listenerRoutes = ({
  endpoints,
  node,
  others,
  requireRole,
  sendList,
}: ListenerRoutesDeps) =>
  new Hono<AppEnv>()
    .get(
      '/',
      describe({
        summary: 'List the listeners of all nodes',
        query: listenerQuery,
        responses: { 200: listenerList },
        failures: { 400: 'a parameter is invalid; the message names it' },
      }),
      requireRole('viewer', { inMemory: true }),
      queryInput(listenerQuery),
      (c) => {
        const { endpoint, recent } = c.req.valid('query')
        const requested = endpoint && new Set(endpoint.map(canonicalAddress))
        const view = createEndpointView(principalOf(c).databases)
        const found = endpoints
          .listeners()
          .filter(
            ({ name, mapping }) => (requested?.has(name) ?? true) && view.shows(mapping.names),
          )
        const last = endpoints.lastSample()
        const status = (listener: Listener): ListenerStatus => ({
          ...listenerStatus(listener, node),
          ...(recent !== undefined && { recent: recentRates(listener.history, last, recent) }),
        })
        const ofOthers = others().filter(
          ({ endpoint: name }) =>
            (requested?.has(name) ?? true) && view.shows(endpoints.mappingOf(name)?.names),
        )
        if (ofOthers.length === 0) return sendList(c, found.values().map(status))
        // Sorting is stable: per address, this node comes first and draining listeners last.
        return sendList(c, [...found.map(status), ...ofOthers].sort(byEndpoint))
      },
    )
    .get(
      '/:address{[^]+}/traffic',
      describe(TRAFFIC),
      requireRole('viewer', { inMemory: true }),
      (c) => c.json(trafficOf(endpoints, node, pathAddress(c), principalOf(c).databases), 200),
    )
    .get(
      '/traffic',
      describe({ ...TRAFFIC, query: addressQuery }),
      requireRole('viewer', { inMemory: true }),
      queryInput(addressQuery),
      (c) => {
        const { endpoint } = c.req.valid('query')
        return c.json(trafficOf(endpoints, node, endpoint, principalOf(c).databases), 200)
      },
    )
    .post('/:address{[^]+}/retry', describe(RETRY), requireRole('operator'), async (c) => {
      await endpoints.retry(pathAddress(c))
      return c.json(acknowledge(), 200)
    })
    .post(
      '/retry',
      describe({ ...RETRY, query: addressQuery }),
      requireRole('operator'),
      queryInput(addressQuery),
      async (c) => {
        await endpoints.retry(c.req.valid('query').endpoint)
        return c.json(acknowledge(), 200)
      },
    )
    .post('/:address{[^]+}/close', describe(CLOSE), requireRole('operator'), async (c) => {
      await endpoints.closeDraining(pathAddress(c))
      return c.json(acknowledge(), 200)
    })
    .post(
      '/close',
      describe({ ...CLOSE, query: addressQuery }),
      requireRole('operator'),
      queryInput(addressQuery),
      async (c) => {
        await endpoints.closeDraining(c.req.valid('query').endpoint)
        return c.json(acknowledge(), 200)
      },
    )

const TRAFFIC = {
  summary: 'Get the traffic of an endpoint in the last hour',
  responses: { 200: endpointTraffic },
  failures: { 404: 'there is no such endpoint' },
}
const RETRY = {
  summary: 'Retry a failed listener now',
  responses: { 200: acknowledgement },
  failures: {
    404: 'there is no such endpoint',
    409: 'it belongs to another node, or fails again',
  },
}
const CLOSE = {
  summary: 'Close the remaining connections of a removed endpoint',
  responses: { 200: acknowledgement },
  failures: { 404: 'no listener of this address is draining' },
}

function trafficOf(
  endpoints: EndpointRegistry,
  node: string,
  address: string,
  scope: Scope,
): EndpointTraffic {
  const name = canonicalAddress(address)
  const view = createEndpointView(scope)
  // A draining listener sorts after its successor.
  const listener = endpoints.listeners().find((each) => each.name === name)
  if (listener === undefined || !view.shows(listener.mapping.names)) {
    throw new Failure('endpoint-not-found', 'endpoint not found')
  }
  const last = endpoints.lastSample()
  return {
    endpoint: listener.name,
    until: new Date(sampleEnd(last)).toISOString(),
    sampleSeconds: SAMPLE_SECONDS,
    nodes: [{ node, ...listener.history.read(last) }],
  }
}

const byEndpoint = (a: ListenerStatus, b: ListenerStatus) =>
  a.endpoint < b.endpoint ? -1 : a.endpoint > b.endpoint ? 1 : 0

export interface AddressRoutesDeps {
  readonly endpoints: Pick<EndpointRegistry, 'check'>
  readonly limit: CheckLimit
  readonly requireRole: RequireRole
}

/**
 * `/_api/address`: the addresses of this machine, and a free port of each, offered when an endpoint
 * is added.
 */
export const addressRoutes = ({ endpoints, limit, requireRole }: AddressRoutesDeps) =>
  new Hono<AppEnv>().get(
    '/',
    describe({
      summary: 'List the network addresses of this machine',
      query: addressListQuery,
      responses: { 200: addressList },
      failures: { 400: 'near is not a port', 429: 'too many checks; see Retry-After' },
    }),
    requireRole('viewer', { inMemory: true }),
    queryInput(addressListQuery),
    async (c) => {
      const { near } = c.req.valid('query')
      const addresses = ownAddresses()
      if (near === undefined) return c.json(addresses, 200)
      const { role, personId } = principalOf(c)
      if (!atLeast(role, 'operator')) {
        throw new Failure('forbidden', 'The parameter near requires the operator role.')
      }
      const withPorts = await limit.run(personId, async () => {
        const found: AddressList = []
        for (const address of addresses) {
          requireConnected(c.req.raw.signal)
          found.push({ ...address, freePort: await findFreePort(endpoints, address.host, near) })
        }
        return found
      })
      return c.json(withPorts, 200)
    },
  )

/** Returns the first port from `near` on that an endpoint could listen on; null if there is none. */
async function findFreePort(
  endpoints: AddressRoutesDeps['endpoints'],
  host: string,
  near: number,
): Promise<number | null> {
  for (let port = near; port < near + PROBED_PORTS; port++) {
    const parsed = parseAddress(`tcp://${host}:${port}`)
    if (!parsed.ok) return null
    if ((await endpoints.check(parsed.address)) === undefined) return port
  }
  return null
}

function ownAddresses(): AddressList {
  return Object.entries(networkInterfaces()).flatMap(([name, addresses = []]) =>
    addresses
      // Omit link-local IPv6 addresses: containers add dozens of them. Users can still enter one.
      .filter(({ address }) => !/^fe[89ab]/i.test(address))
      .map(({ address, family, internal }) => ({
        host: formatHost(address),
        family,
        interface: name,
        loopback: internal,
      })),
  )
}
