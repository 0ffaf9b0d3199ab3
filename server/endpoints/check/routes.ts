import { Hono } from 'hono'
import { type Address, parseAddress } from '../../contract/endpoints/address.ts'
import {
  type EndpointCheck,
  endpointCheck,
  endpointCheckInput,
  partOfSystemCode,
} from '../../contract/endpoints/endpoint-check.ts'
import type { AppEnv } from '../../http/env.ts'
import { principalOf, type RequireRole } from '../../http/guards/require-role.ts'
import { jsonBody } from '../../http/input/body/json-body.ts'
import { describe } from '../../http/openapi/describe.ts'
import type { BindFailure } from '../registry/placement/bind-failure.ts'
import type { EndpointRegistry } from '../registry/registry.ts'
import type { CheckLimit } from './check-limit.ts'

export interface EndpointCheckRoutesDeps {
  readonly endpoints: Pick<EndpointRegistry, 'check'>
  readonly node: string
  readonly limit: CheckLimit
  readonly requireRole: RequireRole
}

/** `/_api/endpoint-check`: checks whether an address is free before an endpoint is added. */
export const endpointCheckRoutes = ({
  endpoints,
  node,
  limit,
  requireRole,
}: EndpointCheckRoutesDeps) =>
  new Hono<AppEnv>().post(
    '/',
    describe({
      summary:
        'Check whether this node could open an endpoint at an address, without changing anything',
      body: endpointCheckInput,
      responses: { 200: endpointCheck },
      failures: { 400: 'a field is missing', 429: 'too many checks; see Retry-After' },
    }),
    requireRole('operator'),
    jsonBody(endpointCheckInput),
    async (c) => {
      const parsed = parseAddress(c.req.valid('json').endpoint)
      if (!parsed.ok) {
        const { part: field, message } = parsed
        return c.json({ ...AVAILABLE, available: false, node, field, message }, 200)
      }
      const { address } = parsed
      const found = await limit.run(principalOf(c).personId, () => endpoints.check(address))
      return c.json(
        found === undefined ? { ...AVAILABLE, node } : explain(address, node, found),
        200,
      )
    },
  )

const AVAILABLE = {
  available: true,
  field: null,
  systemCode: null,
  message: null,
  endpoint: null,
} as const

function explain(address: Address, node: string, { reason, endpoint }: BindFailure): EndpointCheck {
  // A stopping node, or one out of file descriptors, cannot judge the address.
  if (reason.code === 'unavailable') throw reason
  const code = endpoint === undefined ? reason.details.systemCode : 'EADDRINUSE'
  return {
    available: false,
    node,
    field: partOfSystemCode(address.scheme, code) ?? 'host',
    systemCode: code ?? null,
    message: reason.message,
    endpoint: endpoint ?? null,
  }
}
