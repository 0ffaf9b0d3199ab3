import { type Context, Hono } from 'hono'
import type { Invitations } from '../access/invitations.ts'
import { LOCAL_PROVIDER } from '../contract/access/principal.ts'
import {
  createdInvitation,
  invitationInput,
  invitationList,
  newProvider,
  type ProviderSetup,
  providerInput,
  providerSetup,
  providerSetupList,
  providerTest,
  startedTest,
} from '../contract/access/provider.ts'
import { type ProviderInfo, providerList } from '../contract/access/session.ts'
import { acknowledge, acknowledgement } from '../contract/acknowledgement.ts'
import type { LiveEvent } from '../contract/event.ts'
import { Failure } from '../failure.ts'
import type { AppEnv } from '../http/env.ts'
import { audited } from '../http/guards/audit-change.ts'
import type { ClientOf } from '../http/guards/client-address.ts'
import { createOwnOrigin, NoOrigin } from '../http/guards/own-origin.ts'
import { callerOf, principalOf, type RequireRole } from '../http/guards/require-role.ts'
import { jsonBody } from '../http/input/body/json-body.ts'
import { conditionsOf } from '../http/input/headers.ts'
import { describe } from '../http/openapi/describe.ts'
import type { SendList } from '../http/output/send-list.ts'
import { createRateLimit, tooManyRequests } from '../rate-limit.ts'
import {
  type ListedProvider,
  type ManagedProviders,
  noProvider,
} from './providers/managed-providers.ts'
import type { ProviderTests } from './sign-in/provider-tests.ts'
import { callbackPath } from './sign-in/sign-in.ts'

/** Maximum number of tests and of invitations that a person starts per minute on a node. */
export const STARTED_PER_MINUTE = 20

export interface ProviderRoutesDeps {
  readonly providers: Pick<ManagedProviders, 'list' | 'find' | 'add' | 'change' | 'remove'>
  readonly tests: Pick<ProviderTests, 'create' | 'get'>
  readonly invitations: Pick<Invitations, 'create' | 'list' | 'remove'>
  readonly requireRole: RequireRole
  readonly clientOf: ClientOf
  readonly publicOrigin: string | undefined
  readonly sendList: SendList
  readonly publish: (event: LiveEvent) => void
}

const createStartLimit = (what: string) => {
  const limit = createRateLimit({ max: STARTED_PER_MINUTE, period: 60_000 })
  return (c: Context<AppEnv>) => {
    const wait = limit.consume(principalOf(c).personId)
    if (wait > 0) throw tooManyRequests(`Too many ${what} were started`, wait)
  }
}

const nameOf = (c: Context<AppEnv>) => c.req.param('name') ?? ''

const FAILURES = {
  400: 'a field is invalid, or the secret is missing although an endpoint changes',
  403: 'the caller is limited',
  404: 'there is no such provider',
  409: 'the provider comes from the environment',
  412: 'the provider has another revision',
} as const

/** Routes of `/_api/provider`: the sign-in providers, for everyone, and their setup, for admins. */
export function providerRoutes(deps: ProviderRoutesDeps) {
  const { providers, tests, requireRole, clientOf, publicOrigin } = deps
  const ownOrigin = createOwnOrigin(publicOrigin, clientOf)
  const limitTests = createStartLimit('tests')
  const change = (c: Context<AppEnv>, name = nameOf(c)) => ({
    ...{ name, actor: callerOf(c), match: conditionsOf(c).match },
  })
  const setupOf = (c: Context<AppEnv>, { provider, ...rest }: ListedProvider): ProviderSetup => {
    const { name, label, form } = provider
    const origin = ownOrigin(c)
    const callback = origin === undefined ? null : origin + callbackPath(name)
    return { name, label, form, callback, ...rest }
  }
  const require = (name: string): ListedProvider => {
    const found = providers.find(name)
    if (found === undefined) throw noProvider()
    return found
  }
  const etagOf = ({ revision }: ProviderSetup) => ({ ETag: `"${revision}"` })
  return new Hono<AppEnv>()
    .get(
      '/',
      describe({ summary: 'List the identity providers', responses: { 200: providerList } }),
      requireRole('public'),
      (c) =>
        c.json(
          providers.list().map(({ provider: { name, label } }): ProviderInfo => {
            return { name, label, start: callbackPath(name) }
          }),
          200,
        ),
    )
    .get(
      '/setup',
      describe({
        summary: 'List the providers with their settings and the callback URLs to register',
        responses: { 200: providerSetupList },
      }),
      requireRole('admin'),
      (c) =>
        c.json(
          providers.list().map((each) => setupOf(c, each)),
          200,
        ),
    )
    .post(
      '/',
      describe({
        summary: 'Add a provider; its secret is never returned',
        body: newProvider,
        responses: { 201: providerSetup },
        failures: {
          400: FAILURES[400],
          403: FAILURES[403],
          409: 'the name is taken, or there are too many',
        },
      }),
      audited('provider.add', (c) => c.req.valid('json')?.name),
      requireRole('admin'),
      jsonBody(newProvider),
      async (c) => {
        const { name, ...input } = c.req.valid('json')
        await providers.add(input, { name, actor: callerOf(c) })
        const setup = setupOf(c, require(name))
        return c.json(setup, 201, etagOf(setup))
      },
    )
    .put(
      '/:name',
      describe({
        summary: 'Replace the settings of a provider',
        conditions: ['If-Match'],
        body: providerInput,
        responses: { 200: providerSetup },
        failures: FAILURES,
      }),
      audited('provider.change', nameOf),
      requireRole('admin'),
      jsonBody(providerInput),
      async (c) => {
        await providers.change(c.req.valid('json'), change(c))
        const setup = setupOf(c, require(nameOf(c)))
        return c.json(setup, 200, etagOf(setup))
      },
    )
    .delete(
      '/:name',
      describe({
        summary: 'Remove a provider and its invitations',
        conditions: ['If-Match'],
        responses: { 200: acknowledgement },
        failures: {
          403: FAILURES[403],
          404: FAILURES[404],
          409: FAILURES[409],
          412: FAILURES[412],
        },
      }),
      audited('provider.remove', nameOf),
      requireRole('admin'),
      async (c) => {
        await providers.remove(change(c))
        return c.json(acknowledge(), 200)
      },
    )
    .post(
      '/:name/test',
      describe({
        summary: 'Start a test: a sign-in that makes no session. Open its URL in a browser',
        responses: { 201: startedTest },
        failures: { 404: FAILURES[404], 429: 'too many tests were started' },
      }),
      audited('provider.test', nameOf),
      requireRole('admin'),
      async (c) => {
        const { name } = require(nameOf(c)).provider
        limitTests(c)
        const id = await tests.create(name, callerOf(c))
        return c.json({ id, url: `/_oauth2/${name}/test/${id}` }, 201)
      },
    )
    .get(
      '/:name/test/:id',
      describe({
        summary: 'Read the steps of a test',
        responses: { 200: providerTest },
        failures: { 404: 'there is no such test, or it has expired' },
      }),
      requireRole('admin'),
      async (c) => c.json(await tests.get(c.req.param('id'), nameOf(c)), 200),
    )
}

/** Routes of `/_api/invitation`. */
export function invitationRoutes(deps: ProviderRoutesDeps) {
  const { providers, invitations, requireRole } = deps
  const ownOrigin = createOwnOrigin(deps.publicOrigin, deps.clientOf)
  const limit = createStartLimit('invitations')
  const publish = (c: Context<AppEnv>) =>
    deps.publish({ type: 'person', id: principalOf(c).personId })
  return new Hono<AppEnv>()
    .get(
      '/',
      describe({
        summary: 'List the invitations that can be accepted',
        responses: { 200: invitationList },
      }),
      requireRole('admin'),
      async (c) => deps.sendList(c, await invitations.list()),
    )
    .post(
      '/',
      describe({
        summary: 'Invite a person; only this response contains the URL',
        body: invitationInput,
        responses: { 201: createdInvitation },
        failures: {
          400: 'a field is invalid, there is no such provider, or the server has no public URL',
          403: 'the caller is limited',
          409: 'there are too many',
          429: 'too many invitations were started',
        },
      }),
      audited('invitation.create', (c) => c.req.valid('json')?.provider),
      requireRole('admin'),
      jsonBody(invitationInput),
      async (c) => {
        const input = c.req.valid('json')
        const provider = providers.find(input.provider)
        if (provider === undefined || input.provider === LOCAL_PROVIDER) {
          throw new Failure('bad-parameter', 'Choose a provider with which people can sign in.', {
            field: '/provider',
          })
        }
        const origin = ownOrigin(c)
        if (origin === undefined) throw new NoOrigin()
        limit(c)
        const created = await invitations.create(input, principalOf(c).personId, callerOf(c))
        publish(c)
        const url = `${origin}/_oauth2/invitation?token=${created.token}`
        return c.json({ url, invitation: created.invitation }, 201)
      },
    )
    .delete(
      '/:id',
      describe({
        summary: 'Delete an invitation, which can then no longer be accepted',
        responses: { 200: acknowledgement },
        failures: { 404: 'there is no such invitation, or it was accepted' },
      }),
      audited('invitation.delete', (c) => c.req.param('id')),
      requireRole('admin'),
      async (c) => {
        await invitations.remove(c.req.param('id'), callerOf(c))
        publish(c)
        return c.json(acknowledge(), 200)
      },
    )
}
