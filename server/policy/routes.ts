import { type Context, Hono } from 'hono'
import * as z from 'zod/mini'
import { acknowledge, acknowledgement } from '../contract/acknowledgement.ts'
import { parseAddress } from '../contract/endpoints/address.ts'
import { addressQuery } from '../contract/endpoints/endpoint.ts'
import {
  type PolicyRecord,
  policyInput,
  policyList,
  policyQuery,
  policyRecord,
  policyTrial,
  TRIAL_SECONDS,
} from '../contract/endpoints/policy.ts'
import { toIsoTime } from '../contract/iso-time.ts'
import { wholeNumber } from '../contract/query/query-parameter.ts'
import { Failure } from '../failure.ts'
import type { AppEnv } from '../http/env.ts'
import { audited } from '../http/guards/audit-change.ts'
import { callerOf, type RequireRole } from '../http/guards/require-role.ts'
import { jsonBody } from '../http/input/body/json-body.ts'
import { conditionsOf } from '../http/input/headers.ts'
import { queryInput } from '../http/input/query-input.ts'
import { describe } from '../http/openapi/describe.ts'
import type { SendList } from '../http/output/send-list.ts'
import type { Store } from '../storage/store.ts'
import { type Policies, parsePolicy } from './policies.ts'
import { readPolicies, readPolicy, type StoredPolicy } from './stored-policies.ts'

export interface PolicyRoutesDeps {
  readonly store: Store
  readonly policies: Policies
  readonly requireRole: RequireRole
  readonly sendList: SendList
  /** Returns an address in canonical form, if it is one. */
  readonly canonicalAddress: (text: string) => string | undefined
  readonly now: () => number
}

const changeQuery = z.extend(addressQuery, {
  try: z.optional(
    wholeNumber(TRIAL_SECONDS.shortest, TRIAL_SECONDS.longest).check(
      z.describe('restores the previous policy after this time unless it is confirmed, s'),
    ),
  ),
})

const FAILURES = {
  400: 'a field is unknown or invalid',
  409: 'no other endpoint would let the caller administer the server',
  412: 'the policy has another revision',
} as const

/** `/_api/policy`: the policies of endpoints (docs/http-api.md, "Policies"). */
export function policyRoutes(deps: PolicyRoutesDeps) {
  const { store, policies, requireRole, sendList } = deps
  const addressOf = (text: string): string => {
    const address = deps.canonicalAddress(text)
    if (address !== undefined) return address
    throw new Failure('bad-parameter', `${JSON.stringify(text.slice(0, 64))} is not an address.`, {
      field: 'endpoint',
    })
  }
  const target = (c: Context<AppEnv>) => {
    const text = c.req.query('endpoint')
    return text && (deps.canonicalAddress(text) ?? text)
  }
  return new Hono<AppEnv>()
    .get(
      '/',
      describe({
        summary: 'Read the policy of an endpoint, or list all policies',
        query: policyQuery,
        responses: { 200: z.union([policyRecord, policyList]) },
        failures: { 404: 'the endpoint has no policy, so the defaults apply' },
      }),
      requireRole('operator'),
      queryInput(policyQuery),
      async (c) => {
        const { endpoint } = c.req.valid('query')
        if (endpoint === undefined) {
          const all = await readPolicies(store)
          return sendList(
            c,
            all.flatMap((stored) => recordOf(stored.address, stored) ?? []),
          )
        }
        const address = addressOf(endpoint)
        const found = recordOf(address, await readPolicy(store.db, address))
        if (found === undefined) {
          throw new Failure('not-found', `${address} has no policy. The defaults apply.`)
        }
        return c.json(found, 200, { ETag: `"${found.revision}"` })
      },
    )
    .put(
      '/',
      describe({
        summary: 'Set the policy of an endpoint, or try it for some seconds',
        conditions: ['If-Match', 'If-None-Match'],
        query: changeQuery,
        body: policyInput,
        responses: { 200: z.union([policyRecord, policyTrial]) },
        failures: FAILURES,
      }),
      audited('policy.set', target),
      requireRole('operator'),
      queryInput(changeQuery),
      jsonBody(policyInput),
      async (c) => {
        const { endpoint, try: trySeconds } = c.req.valid('query')
        const address = addressOf(endpoint)
        const parsed = parseAddress(address)
        const scheme = parsed.ok ? parsed.address.scheme : 'tcp'
        const policy = parsePolicy(c.req.valid('json'), scheme, deps.now())
        const stored = await policies.set(address, policy, callerOf(c), expectedOf(c), trySeconds)
        const record = recordOf(address, stored)
        const trial = stored?.trial
        if (trial) return c.json({ id: trial.id, until: toIsoTime(trial.until) }, 200)
        return c.json(record, 200, record && { ETag: `"${record.revision}"` })
      },
    )
    .delete(
      '/',
      describe({
        summary: 'Remove the policy of an endpoint, so that the defaults apply',
        conditions: ['If-Match'],
        query: addressQuery,
        responses: { 200: acknowledgement },
        failures: FAILURES,
      }),
      audited('policy.remove', target),
      requireRole('operator'),
      queryInput(addressQuery),
      async (c) => {
        const address = addressOf(c.req.valid('query').endpoint)
        await policies.set(address, null, callerOf(c), expectedOf(c))
        return c.json(acknowledge(), 200)
      },
    )
}

/** `/_api/policy-trial/<id>/confirm`: keeps a policy that is being tried. */
export const policyTrialRoutes = ({
  policies,
  requireRole,
}: Pick<PolicyRoutesDeps, 'policies' | 'requireRole'>) =>
  new Hono<AppEnv>().post(
    '/:id/confirm',
    describe({
      summary: 'Keep a policy that is being tried; only the session or token that began it can',
      responses: { 200: acknowledgement },
      failures: { 404: 'the trial has ended, or another session began it' },
    }),
    audited('policy.confirm', (c) => c.req.param('id')),
    requireRole('operator'),
    async (c) => {
      await policies.confirm(c.req.param('id'), callerOf(c))
      return c.json(acknowledge(), 200)
    },
  )

function expectedOf(c: Context<AppEnv>) {
  const { match, noneMatch } = conditionsOf(c)
  return noneMatch === '*' ? 'none' : match
}

function recordOf(address: string, stored: StoredPolicy | undefined): PolicyRecord | undefined {
  if (stored === undefined || stored.policy === null) return undefined
  const { policy, revision, trial } = stored
  return {
    endpoint: address,
    policy,
    revision,
    ...(trial && { trial: { until: toIsoTime(trial.until) } }),
  }
}
