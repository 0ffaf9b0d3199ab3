import { networkInterfaces } from 'node:os'
import { Hono } from 'hono'
import { type Acknowledgement, acknowledgement } from '../contract/acknowledgement.ts'
import { formatHost } from '../contract/address.ts'
import { type AddressList, addressList, listenerList } from '../contract/listener.ts'
import { describe } from '../http/describe.ts'
import type { AppEnv } from '../http/env.ts'
import type { Permit } from '../http/permit.ts'
import { wantedEndpoints, wantedQuery } from '../http/wanted-endpoints.ts'
import { listenerStatus } from './listener-status.ts'
import type { EndpointRegistry } from './registry.ts'

const DONE: Acknowledgement = { result: true, error: false, code: 200 }

/** `/_api/listener`: what runs, from the real sockets of the node of that name. */
export const listenerRoutes = (endpoints: EndpointRegistry, node: string, permit: Permit) =>
  new Hono<AppEnv>()
    .get(
      '/',
      describe({
        summary: 'List what listens, has failed or drains',
        query: wantedQuery,
        answers: { 200: listenerList },
      }),
      permit('viewer'),
      wantedEndpoints,
      (c) => {
        const wanted = c.req.valid('query').endpoint
        const names = wanted && new Set(wanted)
        const listeners = endpoints.listeners().filter(({ name }) => names?.has(name) ?? true)
        return c.json(
          listeners.map((listener) => listenerStatus(listener, node)),
          200,
        )
      },
    )
    .post(
      '/:address{.+}/retry',
      describe({
        summary: 'Try to open a failed endpoint now',
        answers: { 200: acknowledgement },
        failures: { 404: 'there is no such endpoint', 409: 'it has not failed, or fails again' },
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
      (c) => {
        endpoints.closeDraining(c.req.param('address'))
        return c.json(DONE, 200)
      },
    )

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
