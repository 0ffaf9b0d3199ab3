import { isIP } from 'node:net'
import { type Context, Hono } from 'hono'
import * as z from 'zod/mini'
import type { Principal, Role } from '../contract/access/principal.ts'
import { createEndpointView, inScope } from '../contract/access/scope.ts'
import { acknowledge, acknowledgement } from '../contract/acknowledgement.ts'
import { includesDatabase } from '../contract/database.ts'
import { addressQuery } from '../contract/endpoints/endpoint.ts'
import {
  type PolicyRecord,
  policyInput,
  policyList,
  policyQuery,
  policyRecord,
  policyTestInput,
  policyTestResult,
  policyTrial,
  TRIAL_SECONDS,
} from '../contract/endpoints/policy.ts'
import { toIsoTime } from '../contract/iso-time.ts'
import { wholeNumber } from '../contract/query/query-parameter.ts'
import { Failure } from '../failure.ts'
import type { AppEnv, ListenerContext } from '../http/env.ts'
import { audited } from '../http/guards/audit-change.ts'
import { callerOf, principalOf, type RequireRole } from '../http/guards/require-role.ts'
import { databaseOf } from '../http/guards/select-database.ts'
import { jsonBody } from '../http/input/body/json-body.ts'
import { conditionsOf } from '../http/input/headers.ts'
import { queryInput } from '../http/input/query-input.ts'
import { splitRequestPath } from '../http/input/url.ts'
import { describe } from '../http/openapi/describe.ts'
import type { SendList } from '../http/output/send-list.ts'
import type { Store } from '../storage/store.ts'
import { compilePolicy, decide, type PolicyRequest, RULE_STATUS } from './decide.ts'
import { type Policies, parsePolicy } from './policies.ts'
import { readPolicy, type StoredPolicy } from './stored-policies.ts'

export interface PolicyRoutesDeps {
  readonly store: Store
  readonly policies: Policies
  readonly requireRole: RequireRole
  readonly sendList: SendList
  /** Returns an address in canonical form, if it is one. */
  readonly canonicalAddress: (text: string) => string | undefined
  readonly now: () => number
  /** Returns the databases of an endpoint of this node. */
  readonly mappingOf: (address: string) => ListenerContext['mapping'] | undefined
  /** Returns the policies of the endpoints of this node, sorted by address. */
  readonly storedPolicies: () => [address: string, StoredPolicy | undefined][]
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
        summary: 'Read the policy of an endpoint, or list the policies',
        query: policyQuery,
        responses: { 200: z.union([policyRecord, policyList]) },
        failures: { 404: 'the endpoint has no policy, so the defaults apply' },
      }),
      requireRole('operator'),
      queryInput(policyQuery),
      async (c) => {
        const { endpoint } = c.req.valid('query')
        const view = createEndpointView(principalOf(c).databases)
        const isShown = (address: string) => view.shows(deps.mappingOf(address)?.names)
        if (endpoint === undefined) {
          const shown = deps.storedPolicies().filter(([address]) => isShown(address))
          return sendList(
            c,
            shown.flatMap(([address, stored]) => recordOf(address, stored) ?? []),
          )
        }
        const address = addressOf(endpoint)
        const stored = isShown(address) ? await readPolicy(store.db, address) : undefined
        const found = recordOf(address, stored)
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
        const policy = parsePolicy(c.req.valid('json'), address, deps.now())
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

/** A route of the application, as a test of a request finds it. */
export type FindRoute = (
  method: string,
  path: string,
) =>
  | { readonly route: 'path' | 'method' }
  | {
      readonly route: 'found'
      /** Undefined if it admits everyone. */
      readonly needs: Role | undefined
      /** The collection whose documents it reads. */
      readonly collection: string | undefined
    }

export interface PolicyTestRoutesDeps
  extends Pick<
    PolicyRoutesDeps,
    'store' | 'requireRole' | 'canonicalAddress' | 'now' | 'mappingOf'
  > {
  readonly findRoute: FindRoute
  readonly databaseExists: (name: string) => boolean
  /** Returns the owner of a token. Fails with `unauthenticated`. */
  readonly ownerOf: (token: string) => Promise<Principal | undefined>
}

/** `/_api/policy-test`: which rule would decide on a request, without sending it. */
export const policyTestRoutes = (deps: PolicyTestRoutesDeps) =>
  new Hono<AppEnv>().post(
    '/',
    describe({
      summary: 'Return the rule that would decide on a request, under the stored policy or another',
      body: policyTestInput,
      responses: { 200: policyTestResult },
      failures: { 404: 'there is no such endpoint' },
    }),
    deps.requireRole('operator'),
    jsonBody(policyTestInput),
    async (c) => {
      const test = c.req.valid('json')
      const address = deps.canonicalAddress(test.endpoint)
      const mapping = address === undefined ? undefined : deps.mappingOf(address)
      if (address === undefined || mapping === undefined) {
        throw new Failure('endpoint-not-found', 'endpoint not found')
      }
      if (test.client !== null && isIP(test.client) === 0) {
        throw new Failure('bad-parameter', 'The client is not an IP address.', { field: '/client' })
      }
      const stored =
        test.policy === undefined ? await readPolicy(deps.store.db, address) : undefined
      const policy = test.policy ? parsePolicy(test.policy, address, deps.now()) : stored?.policy
      const url = URL.parse(`http://x${test.path}`)
      const split = splitRequestPath(new Request(url?.href ?? 'http://x/'))
      const database = databaseOf(split, mapping)
      const found = deps.findRoute(test.method, split.path)
      const caller = await callerOfTest(test.credential, database, deps)
      const rule = decide(policy ? compilePolicy(policy) : undefined, {
        client: test.client,
        method: test.method,
        path: split.path,
        database,
        origin: test.origin,
        preflight: test.method === 'OPTIONS' && test.origin !== undefined ? 'GET' : undefined,
        isOwnHost: true,
        isServed: includesDatabase(mapping.names, database) && deps.databaseExists(database),
        caller,
        route: found.route,
        needs: found.route === 'found' ? found.needs : undefined,
        collection: found.route === 'found' ? found.collection : undefined,
        isOverRate: false,
      })
      return c.json({ rule: rule ?? null, status: rule ? RULE_STATUS[rule] : null }, 200)
    },
  )

async function callerOfTest(
  credential: z.infer<typeof policyTestInput>['credential'],
  database: string,
  { ownerOf }: Pick<PolicyTestRoutesDeps, 'ownerOf'>,
): Promise<PolicyRequest['caller']> {
  if (credential === 'none') return 'anonymous'
  if (credential === 'invalid') return 'invalid'
  if ('role' in credential) return { role: credential.role, inScope: true }
  try {
    const owner = await ownerOf(credential.token)
    if (owner === undefined) return 'invalid'
    return { role: owner.role, inScope: inScope(owner.databases, database) }
  } catch (error) {
    if (error instanceof Failure && error.code === 'unauthenticated') return 'invalid'
    throw error
  }
}

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
