import { networkInterfaces } from 'node:os'
import { Hono } from 'hono'
import { type Acknowledgement, acknowledgement } from '../contract/acknowledgement.ts'
import { formatHost } from '../contract/address.ts'
import {
  type AddressList,
  addressList,
  type ListenerStatus,
  listenerList,
  listenerQuery,
} from '../contract/listener.ts'
import { endpointTraffic, SAMPLE_SECONDS } from '../contract/traffic.ts'
import { Failure } from '../failure.ts'
import { describe } from '../http/describe.ts'
import type { AppEnv } from '../http/env.ts'
import type { Permit } from '../http/permit.ts'
import { queryInput } from '../http/query-input.ts'
import type { SendList } from '../http/send-list.ts'
import { canonicalAddress } from './address.ts'
import type { Listener } from './listener.ts'
import { listenerStatus } from './listener-status.ts'
import type { EndpointRegistry } from './registry.ts'
import { recentRates, sampleEnd } from './traffic-history.ts'

const DONE: Acknowledgement = { result: true, error: false, code: 200 }

/** What {@link listenerRoutes} is made of. */
export interface ListenerRoutesDeps {
  readonly endpoints: EndpointRegistry
  /** The name of this node. */
  readonly node: string
  /** What the living other nodes of the store have reported last. */
  readonly others: () => readonly ListenerStatus[]
  readonly permit: Permit
  readonly sendList: SendList
}

/** `/_api/listener`: what runs, here from the real sockets, on other nodes as they report it. */
export const listenerRoutes = ({ endpoints, node, others, permit, sendList }: ListenerRoutesDeps) =>
  new Hono<AppEnv>()
    .get(
      '/',
      describe({
        summary: 'List what listens, has failed or drains, on each node',
        query: listenerQuery,
        answers: { 200: listenerList },
        failures: { 400: 'a parameter is wrong; the message names it' },
      }),
      permit('viewer'),
      queryInput(listenerQuery),
      (c) => {
        const { endpoint, recent } = c.req.valid('query')
        const asked = endpoint && new Set(endpoint.map(canonicalAddress))
        const found = endpoints.listeners().filter(({ name }) => asked?.has(name) ?? true)
        const last = endpoints.lastSample()
        const status = (listener: Listener): ListenerStatus => ({
          ...listenerStatus(listener, node),
          ...(recent !== undefined && { recent: recentRates(listener.history, last, recent) }),
        })
        const theirs = others().filter(({ endpoint: name }) => asked?.has(name) ?? true)
        if (theirs.length === 0) return sendList(c, found.values().map(status))
        // Sorting is stable: this node first, of each those that drain last.
        return sendList(c, [...found.map(status), ...theirs].sort(byEndpoint))
      },
    )
    .get(
      '/:address{.+}/traffic',
      describe({
        summary: 'Read the last hour of what went through an endpoint',
        answers: { 200: endpointTraffic },
        failures: { 404: 'there is no such endpoint' },
      }),
      permit('viewer'),
      (c) => {
        const name = canonicalAddress(c.req.param('address'))
        // One that drains stands behind its successor.
        const listener = endpoints.listeners().find((each) => each.name === name)
        if (listener === undefined) throw new Failure('endpoint-not-found', 'endpoint not found')
        const last = endpoints.lastSample()
        return c.json(
          {
            endpoint: listener.name,
            until: new Date(sampleEnd(last)).toISOString(),
            sampleSeconds: SAMPLE_SECONDS,
            nodes: [{ node, ...listener.history.read(last) }],
          },
          200,
        )
      },
    )
    .post(
      '/:address{.+}/retry',
      describe({
        summary: 'Try to open a failed endpoint now',
        answers: { 200: acknowledgement },
        failures: { 404: 'there is no such endpoint', 409: 'it is elsewhere, or fails again' },
      }),
      permit('operator'),
      async (c) => {
        await endpoints.retry(c.req.param('address'))
        return c.json(DONE, 200)
      },
    )
    .post(
      '/:address{.+}/close',
      describe({
        summary: 'Cut the connections that are left of a removed endpoint',
        answers: { 200: acknowledgement },
        failures: { 404: 'no endpoint of this address drains' },
      }),
      permit('operator'),
      async (c) => {
        await endpoints.closeDraining(c.req.param('address'))
        return c.json(DONE, 200)
      },
    )

const byEndpoint = (a: ListenerStatus, b: ListenerStatus) =>
  a.endpoint < b.endpoint ? -1 : a.endpoint > b.endpoint ? 1 : 0

/** `/_api/address`: the addresses of this machine, for whoever adds an endpoint. */
export const addressRoutes = (permit: Permit) =>
  new Hono<AppEnv>().get(
    '/',
    describe({ summary: 'List the addresses of this machine', answers: { 200: addressList } }),
    permit('viewer'),
    (c) => c.json(ownAddresses(), 200),
  )

function ownAddresses(): AddressList {
  return Object.entries(networkInterfaces()).flatMap(([name, addresses = []]) =>
    addresses
      // A link-local IPv6 address needs a zone to be bound, which an endpoint's address has not.
      .filter(({ address }) => !/^fe[89ab]/i.test(address))
      .map(({ address, family, internal }) => ({
        host: formatHost(address),
        family,
        interface: name,
        loopback: internal,
      })),
  )
}
