import type { Context } from 'hono'
import { createMiddleware } from 'hono/factory'
import type { Principal } from '../../contract/access/principal.ts'
import { Failure } from '../../failure.ts'
import type { AppEnv, EndpointRules } from '../env.ts'
import { requestHeader } from '../input/headers.ts'
import type { ClientOf } from './client-address.ts'

/**
 * Rejects requests of clients that the policy of the endpoint does not admit. Their connections
 * end: they were accepted before the policy changed, or come through a proxy.
 */
export const requireAdmitted = (clientOf: ClientOf) =>
  createMiddleware<AppEnv>((c, next) => {
    checkAdmitted(c, clientOf)
    return next()
  })

/** @throws Failure `forbidden` */
export function checkAdmitted(c: Context<AppEnv>, clientOf: ClientOf): void {
  const { policy } = c.env.listener
  if (policy === undefined) return
  const { address } = clientOf(c)
  if (policy.admits(address)) return
  throw new Failure('forbidden', `This endpoint does not admit clients at ${address}.`, {
    rule: 'allow',
    headers: { Connection: 'close' },
  })
}

/** Returns the response to a preflight request of a page that the policy permits. */
export function preflightResponse(c: Context<AppEnv>, policy: EndpointRules): Response | undefined {
  if (c.req.method !== 'OPTIONS') return undefined
  if (requestHeader(c, 'access-control-request-method') === undefined) return undefined
  const headers = policy.preflightHeaders(c.req.path, requestHeader(c, 'origin'))
  return headers && c.body(null, 204, headers)
}

/**
 * Enforces the rules that apply to an authorized request: `readOnly`, then `rateLimit`.
 *
 * @throws Failure `forbidden` or `too-many-requests`
 */
export function enforceRules(
  c: Context<AppEnv>,
  client: string | null,
  principal: Principal | undefined,
): void {
  const { policy } = c.env.listener
  if (policy === undefined) return
  requireWritable(c)
  if (!policy.isLimited(c.req.path)) return
  const caller = principal?.by === 'token' ? principal.credential : principal?.personId
  const wait = policy.consume(client, caller)
  if (wait === 0) return
  const seconds = Math.ceil(wait / 1000)
  throw new Failure(
    'too-many-requests',
    `This endpoint limits the rate of requests. Try again in ${seconds} s.`,
    {
      rule: 'rateLimit',
      // draft-ietf-httpapi-ratelimit-headers-10
      headers: {
        'Retry-After': String(seconds),
        'RateLimit-Policy': policy.ratePolicy,
        RateLimit: `"endpoint";r=0;t=${seconds}`,
      },
    },
  )
}

/** @throws Failure `forbidden` if the endpoint only serves reads. */
export function requireWritable(c: Context<AppEnv>): void {
  if (!c.env.listener.policy?.isReadOnly(c.req.method, c.req.path)) return
  throw new Failure('forbidden', 'This endpoint is read-only.', { rule: 'readOnly' })
}
