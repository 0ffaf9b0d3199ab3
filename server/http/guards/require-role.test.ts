import { Context, Hono } from 'hono'
import { describe, expect, it } from 'vitest'
import type { AccessRole, Principal, Role } from '../../contract/access/principal.ts'
import { Failure } from '../../failure.ts'
import type { AppEnv, ListenerContext } from '../env.ts'
import { renderFailure, toFailure } from '../output/render-failure.ts'
import {
  createReadAhead,
  createRequireRole,
  type Permission,
  permissionOf,
  type RequireRole,
  type RequireRoleDeps,
} from './require-role.ts'
import { createSessionCookie } from './session-cookie.ts'

const listener: ListenerContext = {
  name: 'tcp://127.0.0.1:8529',
  address: { scheme: 'tcp' },
  mapping: { names: [], defaultDatabase: '_system' },
  draining: new AbortController().signal,
}
const principal = (over: Partial<Principal>): Principal => ({
  personId: 'p',
  username: 'github:1',
  name: null,
  provider: 'github',
  role: 'admin',
  by: 'token',
  databases: null,
  credential: 'c',
  tokenName: null,
  expires: null,
  idleExpires: null,
  ...over,
})

interface Credentials {
  readonly authorization: string | undefined
  readonly session: string | undefined
}

// The credentials name the principal: `<role>[@<database>]`.
async function authenticate({ authorization, session }: Credentials) {
  const text = authorization?.replace(/^\S+ /, '') ?? session
  if (text === 'wrong') throw new Failure('unauthenticated', 'The token is not valid.')
  if (text === undefined || text === 'over') return undefined
  const [role, database] = text.split('@')
  return principal({
    role: role as Role,
    by: authorization === undefined ? 'session' : 'token',
    databases: database === undefined ? null : [database],
  })
}

let failures = 0
const deps: RequireRoleDeps = {
  authenticate,
  lastKnown: () => undefined,
  countFailure() {
    if (++failures > 2) throw new Failure('too-many-requests', 'Too many.')
  },
  catchUp: () => undefined,
  clientOf: (c) => ({ address: '10.0.0.9', secure: false, host: c.req.header('Host') ?? '' }),
  cookie: createSessionCookie('x', 1000),
  isOwnHost: (host) => host === 'ours',
  publicOrigin: undefined,
}
const requireRole = createRequireRole(deps)

function sendRequest(
  permission: Permission,
  headers: Record<string, string>,
  method = 'GET',
  by = requireRole,
) {
  const app = new Hono<AppEnv>()
    .use(async (c, next) => {
      c.set('database', '_system')
      await next()
    })
    .all('/', by(permission), (c) => c.json({ actor: c.get('actor') ?? null }))
  app.onError((error, c) => renderFailure(toFailure(error), c))
  return app.request('/', { method, headers: { Host: 'ours', ...headers } }, { listener })
}
const bearer = (text: string) => ({ Authorization: `Bearer ${text}` })
const cookie = (text: string) => ({ Cookie: `gatehouse_x=${text}` })

describe('requireRole', () => {
  it('returns 401 with the challenge Bearer to anonymous callers, also in browsers', async () => {
    for (const headers of [{}, cookie('over'), { 'Sec-Fetch-Mode': 'navigate' }]) {
      const response = await sendRequest('viewer', headers as Record<string, string>)
      expect(response.status).toBe(401)
      expect(response.headers.get('WWW-Authenticate')).toMatch(/^Bearer/)
    }
  })

  const roles: AccessRole[] = ['pending', 'viewer', 'operator', 'admin']
  it.each(roles.flatMap((needed) => roles.map((has) => [needed, has] as const)))(
    'requires %s and responds to %s accordingly',
    async (needed, has) => {
      const may = roles.indexOf(has) >= roles.indexOf(needed)
      expect((await sendRequest(needed, bearer(has))).status).toBe(may ? 200 : 403)
    },
  )

  it('names the database that the scope of a token does not include', async () => {
    expect((await sendRequest('viewer', bearer('viewer@_system'))).status).toBe(200)
    const response = await sendRequest('viewer', bearer('viewer@blog'))
    expect(response.status).toBe(403)
    expect(await response.json()).toMatchObject({
      message: 'The scope of this token does not include the database _system.',
    })
  })

  it('requires a higher role of tokens than of sessions if a route declares it', async () => {
    const by: typeof requireRole = (needed) => requireRole(needed, { byToken: 'admin' })
    const status = async (headers: Record<string, string>) =>
      (await sendRequest('viewer', headers, 'GET', by)).status
    expect(await status(cookie('viewer'))).toBe(200)
    expect(await status(cookie('pending'))).toBe(403)
    expect(await status(bearer('operator'))).toBe(403)
    expect(await status(bearer('admin'))).toBe(200)
    expect(await status(bearer('admin@blog'))).toBe(403)
  })

  it('allows any caller on public routes, with any credentials', async () => {
    expect((await sendRequest('public', {})).status).toBe(200)
    expect((await sendRequest('public', bearer('wrong'))).status).toBe(200)
  })

  it('sets the principal of a signed-in caller on a public route', async () => {
    expect(await (await sendRequest('known', {})).json()).toEqual({ actor: null })
    expect(await (await sendRequest('known', cookie('pending'))).json()).toMatchObject({
      actor: { name: 'github:1', by: 'session' },
    })
    expect((await sendRequest('known', bearer('wrong'))).status).toBe(401)
  })

  it('distinguishes background requests, by request or by route, from user activity', async () => {
    const requested: boolean[] = []
    const by = createRequireRole({
      ...deps,
      authenticate(credentials) {
        requested.push(credentials.background)
        return authenticate(credentials)
      },
    })
    const inBackground = (needed: Permission) => by(needed, { background: true })
    await sendRequest('viewer', cookie('viewer'), 'GET', by)
    await sendRequest('viewer', { ...cookie('viewer'), 'X-Gatehouse-Background': '1' }, 'GET', by)
    await sendRequest('viewer', cookie('viewer'), 'GET', inBackground as typeof by)
    expect(requested).toEqual([false, true, true])
  })

  it('restricts a token to its databases', async () => {
    expect((await sendRequest('viewer', bearer('viewer@_system'))).status).toBe(200)
    expect((await sendRequest('viewer', bearer('viewer@blog'))).status).toBe(403)
  })

  it('sets the actor with the address of the client', async () => {
    expect(await (await sendRequest('viewer', bearer('admin'))).json()).toEqual({
      actor: { name: 'github:1', by: 'token', address: '10.0.0.9' },
    })
  })

  it('counts invalid tokens, and rejects when there are too many', async () => {
    failures = 0
    const statuses = []
    for (let n = 0; n < 3; n++) statuses.push((await sendRequest('viewer', bearer('wrong'))).status)
    expect(statuses).toEqual([401, 401, 429])
    expect((await sendRequest('viewer', bearer('viewer'))).status).toBe(200)
  })

  const sameOrigin = { Origin: 'http://ours', 'Sec-Fetch-Site': 'same-origin', 'X-Gatehouse': '1' }
  it.each([
    ['a cookie from our page', { ...cookie('admin'), ...sameOrigin }, 200],
    [
      'a cookie from another page',
      { ...cookie('admin'), Origin: 'https://evil', 'X-Gatehouse': '1' },
      403,
    ],
    ['a cookie from a form of ours', { ...cookie('admin'), Origin: 'http://ours' }, 403],
    ['a cookie under a foreign host', { ...cookie('admin'), Host: 'evil' }, 421],
    ['a token from another page', { ...bearer('admin'), Origin: 'https://evil' }, 200],
    ['a token under any host', { ...bearer('admin'), Host: 'data.example' }, 200],
    [
      'Basic that a browser remembers, from another page',
      { Authorization: 'Basic admin', 'Sec-Fetch-Site': 'cross-site', Origin: 'https://evil' },
      403,
    ],
    [
      'Basic of a browser without Fetch Metadata, from another page',
      { Authorization: 'Basic admin', Origin: 'https://evil' },
      403,
    ],
    ['Basic from a sandboxed page', { Authorization: 'Basic admin', Origin: 'null' }, 403],
    ['Basic from our page', { Authorization: 'Basic admin', Origin: 'http://ours' }, 200],
    [
      'Basic of a browser under a foreign host',
      { Authorization: 'Basic admin', Origin: 'http://evil', Host: 'evil' },
      421,
    ],
    ['Basic of a script', { Authorization: 'Basic admin' }, 200],
    [
      'Basic of a script that calls itself a browser and sends a cookie',
      { Authorization: 'Basic admin', 'User-Agent': 'Mozilla/5.0', Cookie: 'a=b' },
      200,
    ],
  ])('allows changes by %s: %#', async (_who, headers, status) => {
    const response = await sendRequest(
      'operator',
      headers as unknown as Record<string, string>,
      'DELETE',
    )
    expect(response.status).toBe(status)
  })

  it('compares the origin of a page with the host that a trusted proxy forwarded', async () => {
    const by = createRequireRole({
      ...deps,
      clientOf: (c) => ({ ...deps.clientOf(c), host: c.req.header('X-Forwarded-Host') ?? '' }),
    })
    const forwarded = { Host: 'upstream', 'X-Forwarded-Host': 'ours' }
    const change = async (headers: Record<string, string>) =>
      (await sendRequest('operator', { ...forwarded, ...headers }, 'DELETE', by)).status
    const upstream = { Origin: 'http://upstream' }
    const basic = { Authorization: 'Basic admin' }
    expect(await change({ ...cookie('admin'), ...sameOrigin })).toBe(200)
    expect(await change({ ...cookie('admin'), ...sameOrigin, ...upstream })).toBe(403)
    expect(await change({ ...basic, Origin: 'http://ours' })).toBe(200)
    expect(await change({ ...basic, ...upstream })).toBe(403)
  })

  it('checks a cached principal like others', async () => {
    const remembering = createRequireRole({
      ...deps,
      authenticate({ session }) {
        if (session === 'over') throw new Failure('unauthenticated', 'The session is over.')
        return principal({ role: session as Role, by: 'session' })
      },
      countFailure() {},
    })
    const change = async (headers: Record<string, string>) =>
      (await sendRequest('operator', headers, 'DELETE', remembering)).status
    expect(await change({ ...cookie('operator'), ...sameOrigin })).toBe(200)
    expect(await change({ ...cookie('viewer'), ...sameOrigin })).toBe(403)
    expect(await change({ ...cookie('over'), ...sameOrigin })).toBe(401)
    expect(await change({ ...cookie('operator'), ...sameOrigin, Host: 'evil' })).toBe(421)
    expect(await change({ ...cookie('operator'), Origin: 'https://evil' })).toBe(403)
  })

  it('allows the last known principal to read what is in memory during an outage, and nothing else', async () => {
    let failure = new Failure('unavailable', 'The database is unavailable.')
    const remembering = createRequireRole({
      ...deps,
      authenticate: () => Promise.reject(failure),
      countFailure() {},
      lastKnown: ({ session }) =>
        session === undefined ? undefined : principal({ role: session as Role, by: 'session' }),
    })
    const inMemory: RequireRole = (needed) => remembering(needed, { inMemory: true })
    const status = async (headers: Record<string, string>, by = inMemory) =>
      (await sendRequest('viewer', headers, 'GET', by)).status
    expect(await status(cookie('viewer'))).toBe(200)
    expect(await status(cookie('pending'))).toBe(403)
    expect(await status(cookie('viewer'), remembering)).toBe(503)
    expect(await status({})).toBe(503)
    failure = new Failure('unauthenticated', 'The token is not valid.')
    expect(await status(cookie('viewer'))).toBe(401)
  })

  it('reads ahead only while the store looks up the credentials, and checks them first', async () => {
    let reads = 0
    const by = (deps: RequireRoleDeps) => (needed: Permission) =>
      createRequireRole(deps)(needed, { readAhead: () => reads++ })
    const status = async (role: Role, given: RequireRoleDeps) =>
      (await sendRequest('viewer', bearer(role), 'GET', by(given))).status
    const later: RequireRoleDeps = {
      ...deps,
      authenticate: async (credentials) => deps.authenticate(credentials),
    }
    const cached = { ...deps, authenticate: () => principal({ role: 'viewer' }) }
    expect(await status('viewer', cached)).toBe(200)
    expect(reads).toBe(0)
    expect(await status('viewer', later)).toBe(200)
    expect(reads).toBe(1)
    expect(await status('pending', later)).toBe(403)
    expect(reads).toBe(2)
  })

  it('marks the handlers that declare a permission', () => {
    expect(permissionOf(requireRole('viewer'))).toEqual({
      bySession: 'viewer',
      byToken: 'viewer',
      documents: false,
    })
    expect(permissionOf(requireRole('viewer', { byToken: 'admin' }))?.byToken).toBe('admin')
    expect(permissionOf(() => {})).toBeUndefined()
  })
})

describe('createSessionCookie', () => {
  const session = createSessionCookie('abc', 7 * 24 * 60 * 60 * 1000)

  it('is not accessible to scripts and other sites', () => {
    expect(session.set('secret', false)).toBe(
      'gatehouse_abc=secret; Max-Age=604800; Path=/; HttpOnly; SameSite=Lax',
    )
  })

  it('is bound to its host on an encrypted connection', () => {
    expect(session.set('secret', true)).toMatch(/^__Host-gatehouse_abc=secret; .*Secure/)
    expect(session.clear(true)).toMatch(/^__Host-gatehouse_abc=; Max-Age=0; .*Secure/)
  })
})

const context = () => new Context<AppEnv>(new Request('http://127.0.0.1/'))

it('returns what was begun for a request once, so that a slow request does not keep it', () => {
  const ahead = createReadAhead((c) => ({ c }))
  const [one, other] = [context(), context()]
  ahead.begin(one)
  expect(ahead.take(other)).toBeUndefined()
  expect(ahead.take(one)).toEqual({ c: one })
  expect(ahead.take(one)).toBeUndefined()
})

it('returns nothing if the read failed', () => {
  const ahead = createReadAhead(() => {
    throw new Error('a path that is not valid')
  })
  const c = context()
  ahead.begin(c)
  expect(ahead.take(c)).toBeUndefined()
})
