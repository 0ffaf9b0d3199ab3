import { Hono } from 'hono'
import { type Principal, personChange, personList } from '../contract/access/principal.ts'
import { type CurrentSession, currentSession, sessionList } from '../contract/access/session.ts'
import { createdToken, tokenInput, tokenList, tokenQuery } from '../contract/access/token.ts'
import { acknowledge, acknowledgement } from '../contract/acknowledgement.ts'
import { SYSTEM_DATABASE } from '../contract/database.ts'
import { toIsoTime } from '../contract/iso-time.ts'
import { Failure } from '../failure.ts'
import type { AppEnv } from '../http/env.ts'
import { audited } from '../http/guards/audit-change.ts'
import type { ClientOf } from '../http/guards/client-address.ts'
import {
  callerOf,
  principalOf,
  type RequireRole,
  requireScope,
} from '../http/guards/require-role.ts'
import type { SessionCookie } from '../http/guards/session-cookie.ts'
import { jsonBody } from '../http/input/body/json-body.ts'
import { queryInput } from '../http/input/query-input.ts'
import { describe } from '../http/openapi/describe.ts'
import type { SendList } from '../http/output/send-list.ts'
import type { Access } from './access.ts'

export interface AccessRoutesDeps {
  readonly access: Access
  readonly requireRole: RequireRole
  readonly clientOf: ClientOf
  readonly cookie: SessionCookie
  readonly sendList: SendList
}

/** Routes of `/_api/session`: the current session, and sign-out. */
export const sessionRoutes = ({ access, requireRole, clientOf, cookie }: AccessRoutesDeps) =>
  new Hono<AppEnv>()
    .get(
      '/',
      describe({
        summary: 'Get the current session; null if signed out',
        responses: { 200: currentSession },
      }),
      requireRole('known', { inMemory: true }),
      (c) => c.json(toSession(c.get('principal'), c.env.listener.name), 200),
    )
    .delete(
      '/',
      describe({
        summary: 'Sign out and end the session',
        responses: { 200: acknowledgement },
      }),
      audited('session.end', (c) => c.get('actor')?.name),
      requireRole('known'),
      async (c) => {
        const principal = c.get('principal')
        if (principal?.by === 'session') {
          await access.endSession(principal.personId, principal.credential, callerOf(c))
        }
        c.header('Set-Cookie', cookie.clear(clientOf(c).secure))
        return c.json(acknowledge(), 200)
      },
    )

/**
 * A session may change the caller's own sessions and tokens, also if the caller is limited to other
 * databases than `_system`. A token may do so only with the role admin: otherwise a leaked token
 * could end its owner's sessions, or create tokens that outlast it.
 */
const OWN_CREDENTIALS = { byToken: 'admin', anyScope: true } as const

/** Routes of `/_api/user`: people, their roles and their sessions. The id `me` is the caller. */
export const userRoutes = ({ access, requireRole, sendList }: AccessRoutesDeps) => {
  /** Returns the person id of a path. Only admins may name other people. */
  const personOf = (principal: Principal, id: string): string => {
    if (id === 'me' || id === principal.personId) return principal.personId
    if (principal.role !== 'admin') throw new Failure('forbidden', 'This requires the admin role.')
    return id
  }
  return new Hono<AppEnv>()
    .get(
      '/',
      describe({ summary: 'List people', responses: { 200: personList } }),
      requireRole('admin'),
      async (c) => sendList(c, await access.people()),
    )
    .patch(
      '/:id',
      describe({
        summary:
          'Change the role of a person, and the databases that it is limited to, and end their ' +
          'sessions. The role none removes access: ' +
          'it also revokes their tokens and rejects sign-in until a role is assigned again',
        body: personChange,
        responses: { 200: acknowledgement },
        failures: {
          400: 'the role or a database is invalid, or groups cannot set the role',
          403: 'the caller is limited, and the change gives more access',
          404: 'there is no such person',
          409: 'the person must remain an admin',
        },
      }),
      audited('person.role', (c) => c.req.param('id')),
      requireRole('admin'),
      jsonBody(personChange),
      async (c) => {
        await access.changeRole(c.req.param('id'), c.req.valid('json'), callerOf(c))
        return c.json(acknowledge(), 200)
      },
    )
    .get(
      '/:id/session',
      describe({
        summary: 'List the sessions of a person',
        responses: { 200: sessionList },
        failures: { 404: 'there is no such person' },
      }),
      requireRole('pending'),
      async (c) => {
        const principal = principalOf(c)
        const id = personOf(principal, c.req.param('id'))
        return sendList(c, await access.sessions(id, principal.credential))
      },
    )
    .delete(
      '/:id/session/:session',
      describe({
        summary: 'End one session of a person, or all of them with the id "all"',
        responses: { 200: acknowledgement },
        failures: {
          403: 'the token does not have the admin role',
          404: 'there is no such person or session',
        },
      }),
      audited('session.end', (c) => c.req.param('id')),
      requireRole('pending', OWN_CREDENTIALS),
      async (c) => {
        const principal = principalOf(c)
        const id = personOf(principal, c.req.param('id'))
        if (id !== principal.personId) requireScope(principal, SYSTEM_DATABASE)
        await access.endSession(id, c.req.param('session'), callerOf(c))
        return c.json(acknowledge(), 200)
      },
    )
}

/**
 * Routes of `/_api/token`: the caller's tokens. An admin lists all tokens with `?everybody=true`.
 */
export const tokenRoutes = ({ access, requireRole, sendList }: AccessRoutesDeps) =>
  new Hono<AppEnv>()
    .get(
      '/',
      describe({
        summary: 'List your tokens; with everybody=true, all tokens (admin)',
        query: tokenQuery,
        responses: { 200: tokenList },
        failures: { 400: 'everybody is neither true nor false' },
      }),
      requireRole('viewer'),
      queryInput(tokenQuery),
      async (c) => {
        const principal = principalOf(c)
        const all = c.req.valid('query').everybody === 'true'
        if (all && principal.role !== 'admin') {
          throw new Failure(
            'forbidden',
            'Listing the tokens of other people requires the admin role.',
          )
        }
        return sendList(c, access.tokens(all ? 'everybody' : principal.personId))
      },
    )
    .post(
      '/',
      describe({
        summary: 'Create a token; only this response contains it',
        body: tokenInput,
        responses: { 201: createdToken },
        failures: {
          400: 'a field is invalid',
          403: 'the role is above that of the caller, or the caller is a token without the admin role',
        },
      }),
      audited('token.create', (c) => c.req.valid('json')?.name),
      requireRole('viewer', OWN_CREDENTIALS),
      jsonBody(tokenInput),
      async (c) => {
        const principal = principalOf(c)
        const created = await access.createToken(principal, c.req.valid('json'), callerOf(c))
        return c.json(created, 201)
      },
    )
    .delete(
      '/:id',
      describe({
        summary: 'Revoke a token; admins can revoke the tokens of other people',
        responses: { 200: acknowledgement },
        failures: { 403: 'the token does not have the admin role', 404: 'there is no such token' },
      }),
      audited('token.revoke', (c) => c.req.param('id')),
      requireRole('viewer', OWN_CREDENTIALS),
      async (c) => {
        const principal = principalOf(c)
        await access.revokeToken(principal, c.req.param('id'), callerOf(c))
        return c.json(acknowledge(), 200)
      },
    )

function toSession(principal: Principal | undefined, endpoint: string): CurrentSession {
  if (principal === undefined) return null
  const { personId, username, name, provider, role, databases, by, expires, idleExpires } =
    principal
  return {
    person: {
      id: personId,
      username,
      name,
      provider,
      role,
      databases: databases && [...databases],
    },
    by,
    expires: toIsoTime(expires),
    idleExpires: toIsoTime(idleExpires),
    endpoint,
  }
}
