import { Hono } from 'hono'
import * as z from 'zod/mini'
import { type Acknowledgement, acknowledgement } from '../contract/acknowledgement.ts'
import { personChange, personList } from '../contract/person.ts'
import type { Principal } from '../contract/principal.ts'
import { type CurrentSession, currentSession, sessionList } from '../contract/session.ts'
import { createdToken, tokenInput, tokenList } from '../contract/token.ts'
import { Failure } from '../failure.ts'
import { audited } from '../http/audited.ts'
import type { ClientOf } from '../http/client.ts'
import { describe } from '../http/describe.ts'
import type { AppEnv } from '../http/env.ts'
import { jsonBody } from '../http/json-body.ts'
import type { Permit } from '../http/permit.ts'
import type { SendList } from '../http/send-list.ts'
import type { SessionCookie } from '../http/session-cookie.ts'
import type { Access } from './access.ts'

const done = (code = 200): Acknowledgement => ({ result: true, error: false, code })

/** What the routes of people need besides people. */
export interface AccessRoutesDeps {
  readonly access: Access
  readonly permit: Permit
  readonly clientOf: ClientOf
  readonly cookie: SessionCookie
  readonly sendList: SendList
}

/** `/_api/session`: who is asking, and signing out. */
export const sessionRoutes = ({ access, permit, clientOf, cookie }: AccessRoutesDeps) =>
  new Hono<AppEnv>()
    .get(
      '/',
      describe({
        summary: 'Tell who is signed in; null: nobody',
        answers: { 200: currentSession },
      }),
      permit('known'),
      (c) => c.json(toSession(c.get('principal')), 200),
    )
    .delete(
      '/',
      describe({
        summary: 'Sign out: the session ends here, at once',
        answers: { 200: acknowledgement },
      }),
      audited('session.end', (c) => c.get('actor')?.name),
      permit('known'),
      async (c) => {
        const principal = c.get('principal')
        if (principal?.by === 'session') {
          await access.endSession(principal.personId, principal.credential, c.get('actor'))
        }
        c.header('Set-Cookie', cookie.take(clientOf(c).secure))
        return c.json(done(), 200)
      },
    )

/**
 * One's own sessions and tokens are changed by whoever is signed in; a token would do more than its
 * role says: who has got hold of a program's could lock its owner out, or make one to keep.
 */
const OWN = { byToken: 'admin' } as const

/** `/_api/user`: people, their roles and their sessions. `me` stands for whoever asks. */
export const userRoutes = ({ access, permit, sendList }: AccessRoutesDeps) => {
  /** The person that a path means; others than oneself are for admins. */
  const personOf = (principal: Principal, id: string): string => {
    if (id === 'me' || id === principal.personId) return principal.personId
    if (principal.role !== 'admin') throw new Failure('forbidden', 'This takes the role admin.')
    return id
  }
  return new Hono<AppEnv>()
    .get(
      '/',
      describe({ summary: 'List the people', answers: { 200: personList } }),
      permit('admin'),
      async (c) => sendList(c, await access.people()),
    )
    .patch(
      '/:id',
      describe({
        summary: 'Give somebody another role; their sessions end',
        body: personChange,
        answers: { 200: acknowledgement },
        failures: { 404: 'there is no such person', 409: 'no admin would be left' },
      }),
      audited('person.role', (c) => c.req.param('id')),
      permit('admin'),
      jsonBody(personChange),
      async (c) => {
        await access.changeRole(c.req.param('id'), c.req.valid('json').role, c.get('actor'))
        return c.json(done(), 200)
      },
    )
    .get(
      '/:id/session',
      describe({ summary: 'List the sessions of somebody', answers: { 200: sessionList } }),
      permit('pending'),
      async (c) => {
        const principal = c.get('principal') as Principal
        const id = personOf(principal, c.req.param('id'))
        return sendList(c, await access.sessions(id, principal.credential))
      },
    )
    .delete(
      '/:id/session/:session',
      describe({
        summary: 'End a session of somebody, or "all" of them',
        answers: { 200: acknowledgement },
        failures: { 403: 'a token asks that is not an admin’s', 404: 'there is no such session' },
      }),
      audited('session.end', (c) => c.req.param('id')),
      permit('pending', OWN),
      async (c) => {
        const id = personOf(c.get('principal') as Principal, c.req.param('id'))
        await access.endSession(id, c.req.param('session'), c.get('actor'))
        return c.json(done(), 200)
      },
    )
}

const everybody = z.enum(['true', 'false'])

/** `/_api/token`: one's own tokens; an admin's list with `?everybody=true` holds all. */
export const tokenRoutes = ({ access, permit, sendList }: AccessRoutesDeps) =>
  new Hono<AppEnv>()
    .get(
      '/',
      describe({
        summary: 'List your tokens, or as an admin with ?everybody=true all',
        answers: { 200: tokenList },
      }),
      permit('viewer'),
      async (c) => {
        const principal = c.get('principal') as Principal
        const all = everybody.safeParse(c.req.query('everybody')).data === 'true'
        if (all && principal.role !== 'admin') {
          throw new Failure('forbidden', 'The tokens of others take the role admin.')
        }
        return sendList(c, await access.tokens(all ? 'everybody' : principal.personId))
      },
    )
    .post(
      '/',
      describe({
        summary: 'Make a token; it is shown this once',
        body: tokenInput,
        answers: { 201: createdToken },
        failures: {
          400: 'a field is wrong',
          403: 'its role is above yours, or a token asks that is not an admin’s',
        },
      }),
      audited('token.create', (c) => c.req.valid('json')?.name),
      permit('viewer', OWN),
      jsonBody(tokenInput),
      async (c) => {
        const principal = c.get('principal') as Principal
        const made = await access.createToken(principal, c.req.valid('json'), c.get('actor'))
        return c.json(made, 201)
      },
    )
    .delete(
      '/:id',
      describe({
        summary: 'Revoke a token of yours; as an admin any',
        answers: { 200: acknowledgement },
        failures: { 403: 'a token asks that is not an admin’s', 404: 'there is no such token' },
      }),
      audited('token.revoke', (c) => c.req.param('id')),
      permit('viewer', OWN),
      async (c) => {
        const principal = c.get('principal') as Principal
        await access.revokeToken(principal, c.req.param('id'), c.get('actor'))
        return c.json(done(), 200)
      },
    )

const time = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString())

function toSession(principal: Principal | undefined): CurrentSession {
  if (principal === undefined) return null
  const { personId, username, name, provider, role, by, expires, idleExpires } = principal
  return {
    person: { id: personId, username, name, provider, role },
    by,
    expires: time(expires),
    idleExpires: time(idleExpires),
  }
}
