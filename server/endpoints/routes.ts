import { Hono, type MiddlewareHandler } from 'hono'
import { createEndpointView } from '../contract/access/scope.ts'
import { acknowledge, acknowledgement } from '../contract/acknowledgement.ts'
import type { Conditions } from '../contract/conditions.ts'
import {
  addressQuery,
  endpointInput,
  endpointList,
  endpointQuery,
} from '../contract/endpoints/endpoint.ts'
import { Failure } from '../failure.ts'
import type { AppEnv } from '../http/env.ts'
import { audited } from '../http/guards/audit-change.ts'
import { callerOf, principalOf, type RequireRole } from '../http/guards/require-role.ts'
import { jsonBody } from '../http/input/body/json-body.ts'
import { conditionsOf } from '../http/input/headers.ts'
import { queryInput } from '../http/input/query-input.ts'
import { pathAddress } from '../http/input/url.ts'
import { describe } from '../http/openapi/describe.ts'
import type { SendList } from '../http/output/send-list.ts'
import { canonicalAddress } from './address.ts'
import type { EndpointRegistry } from './registry/registry.ts'

export interface EndpointRoutesDeps {
  readonly endpoints: EndpointRegistry
  readonly requireRole: RequireRole
  readonly sendList: SendList
}

/** `/_api/endpoint`: the configured endpoints (docs/http-api.md, "Endpoints"). */
export const endpointRoutes = ({ endpoints, requireRole, sendList }: EndpointRoutesDeps) =>
  new Hono<AppEnv>()
    .get(
      '/',
      describe({
        summary: 'List the endpoints that serve a database of the caller',
        query: endpointQuery,
        responses: { 200: endpointList },
      }),
      requireRole('viewer', { inMemory: true }),
      queryInput(endpointQuery),
      (c) => {
        const wanted = c.req.valid('query').endpoint
        const addresses = wanted && new Set(wanted)
        const view = createEndpointView(principalOf(c).databases)
        return sendList(
          c,
          endpoints
            .list()
            .values()
            .filter(({ endpoint }) => addresses?.has(endpoint) ?? true)
            .filter(({ databases }) => view.shows(databases))
            .map(({ endpoint, databases }) => ({
              endpoint,
              databases: view.namesOf(databases),
            })),
        )
      },
    )
    .post(
      '/',
      describe({
        summary:
          'Add an endpoint or replace its databases. If-Match takes its revision, ' +
          'If-None-Match: * only adds',
        conditions: ['If-Match', 'If-None-Match'],
        body: endpointInput,
        responses: { 200: acknowledgement },
        failures: {
          400: 'a field is invalid, or the address cannot be used on this machine',
          403: 'the operating system does not permit the port or the path',
          409: 'the port is in use, or no other endpoint serves _system',
          412: 'the endpoint has another revision',
        },
      }),
      audited('endpoint.add', (c) => auditTarget(c.req.valid('json')?.endpoint)),
      requireRole('operator'),
      jsonBody(endpointInput),
      async (c) => {
        const conditions = conditionsOf(c)
        const expected = isOnlyNew(conditions) ? 'none' : matchOf(conditions)
        await endpoints.add(c.req.valid('json'), callerOf(c), expected)
        return c.json(acknowledge(), 200)
      },
    )
    .delete(
      '/:address{[^]+}',
      describe({ ...REMOVAL, summary: 'Remove an endpoint; the address is percent-encoded' }),
      audited('endpoint.remove', (c) => auditTarget(c.req.param('address'))),
      requireRole('operator'),
      async (c) => {
        await endpoints.remove(pathAddress(c), callerOf(c), matchOf(conditionsOf(c)))
        return c.json(acknowledge(), 200)
      },
    )
    .delete(
      '/',
      describe({
        ...REMOVAL,
        summary: 'Remove the endpoint with the address in the query',
        query: addressQuery,
        failures: { ...REMOVAL.failures, 405: 'the query has no address' },
      }),
      audited('endpoint.remove', (c) => auditTarget(c.req.query('endpoint'))),
      requireRole('operator'),
      requireAddress,
      queryInput(addressQuery),
      async (c) => {
        const { endpoint } = c.req.valid('query')
        await endpoints.remove(endpoint, callerOf(c), matchOf(conditionsOf(c)))
        return c.json(acknowledge(), 200)
      },
    )

const REMOVAL = {
  conditions: ['If-Match'],
  responses: { 200: acknowledgement },
  failures: {
    404: 'there is no such endpoint',
    409: 'no other endpoint serves _system',
    412: 'the endpoint has another revision',
  },
} as const

/** Responds to `DELETE /_api/endpoint` without an address as to an unsupported method. */
const requireAddress: MiddlewareHandler<AppEnv> = (c, next) => {
  if (c.req.query('endpoint') !== undefined) return next()
  throw new Failure(
    'method-not-allowed',
    'DELETE requires an address here: DELETE /_api/endpoint?endpoint=<address>.',
    { headers: { Allow: 'GET, HEAD, POST' } },
  )
}

/** Formats an address for the audit log; an invalid address is logged as sent. */
const auditTarget = (address: string | undefined) =>
  address && (canonicalAddress(address) ?? address)

/**
 * Returns whether the request may only add the endpoint: it has `If-None-Match: *`.
 *
 * @throws Failure `precondition-failed` if `If-Match` requires that it exists.
 */
function isOnlyNew({ match, noneMatch }: Conditions): boolean {
  if (noneMatch !== '*') return false
  if (match === undefined) return true
  throw new Failure(
    'precondition-failed',
    'If-Match and If-None-Match: * exclude each other. Send one of them.',
    { field: 'If-None-Match' },
  )
}

/**
 * Returns the revisions of `If-Match`. `If-None-Match` is supported only as `*`, to add an
 * endpoint.
 *
 * @throws Failure `precondition-failed`
 */
function matchOf({ match, noneMatch }: Conditions): Conditions['match'] {
  if (noneMatch === undefined) return match
  throw new Failure(
    'precondition-failed',
    'If-None-Match is supported only as *, to add an endpoint. Use If-Match instead.',
    { field: 'If-None-Match' },
  )
}
