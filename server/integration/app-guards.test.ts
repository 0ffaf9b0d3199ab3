import { afterAll, describe, expect, it } from 'vitest'
import { atLeast, OPERATOR, ROLES, type Role } from '../contract/access/principal.ts'
import { type Declared, permissionOf } from '../http/guards/require-role.ts'
import { hashSecret } from '../secret.ts'
import { blog, openApp, outside } from '../test-support/app.testing.ts'

// Tests permissions, host names and CSRF checks. This file is long because its matrices cover every
// route.

const { app, request, access, store, signedIn, close } = await openApp()
afterAll(close)

describe('the Host check', () => {
  it.each([
    'localhost',
    'LOCALHOST:1',
    'a.localhost',
    '127.0.0.1:8529',
    '10.1.2.3',
    '[::1]:8529',
    'gate.example.org',
  ])('allows administration under %s', async (host) => {
    const headers = { Host: host, ...(await signedIn()) }
    expect((await request('/_api/endpoint', { headers })).status).toBe(200)
    expect((await request('/_console/', { headers })).status).toBe(200)
  })

  it.each([
    'evil.example',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '1.2.3',
    'gate.example.org.evil',
    '',
  ])('rejects administration, console and sign-in under %j', async (host) => {
    const headers = { Host: host, ...(await signedIn()) }
    for (const path of [
      '/_api/endpoint',
      '/_db/_system/_api/endpoint',
      '/_console/',
      '/%5Fconsole/',
      '/_oauth2/local/auth',
      '/_idp/auth',
    ]) {
      expect([path, (await request(path, { headers })).status]).toEqual([path, 421])
    }
  })

  it('allows data, health and tokens under any name', async () => {
    const headers = { Host: 'data.example' }
    expect((await request('/', { headers }, blog)).status).toBe(200)
    expect((await request('/_api/health', { headers })).status).toBe(200)
    expect((await request('/_api/endpoint', { headers })).status).toBe(200)
  })
})

describe('the origin check', () => {
  const attempt = async (headers: Record<string, string>, method = 'POST') =>
    request('/_api/database', {
      method,
      headers: { 'Content-Type': 'application/json', ...(await signedIn()), ...headers },
      ...(method === 'GET' ? {} : { body: JSON.stringify({ name: '_system' }) }),
    })
  // 409 comes from the route itself, so the request was accepted.
  it.each([
    ['a browser that sends no origin', { 'X-Gatehouse': '1' }, 403],
    ['a request with the cookie alone', {}, 403],
    [
      'our page',
      { Origin: 'http://localhost:8529', 'Sec-Fetch-Site': 'same-origin', 'X-Gatehouse': '1' },
      409,
    ],
    [
      'our page in a browser without Fetch Metadata',
      { Origin: 'http://localhost:8529', 'X-Gatehouse': '1' },
      409,
    ],
    [
      'our page behind the public URL',
      { Origin: 'https://gate.example.org', 'X-Gatehouse': '1' },
      409,
    ],
    [
      'a form of our origin',
      { Origin: 'http://localhost:8529', 'Sec-Fetch-Site': 'same-origin' },
      403,
    ],
    ['another page', { Origin: 'https://evil.example', 'X-Gatehouse': '1' }, 403],
    [
      'another port of this host',
      { Origin: 'http://localhost:3000', 'Sec-Fetch-Site': 'same-site', 'X-Gatehouse': '1' },
      403,
    ],
    ['a sandboxed page', { Origin: 'null', 'X-Gatehouse': '1' }, 403],
    ['a page that hides its origin', { 'Sec-Fetch-Site': 'cross-site', 'X-Gatehouse': '1' }, 403],
    ['an address typed by hand', { 'Sec-Fetch-Site': 'none', 'X-Gatehouse': '1' }, 403],
  ])('%s', async (_who, headers, status) => {
    expect((await attempt(headers as Record<string, string>)).status).toBe(status)
  })

  it.each(['application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'text/plain'])(
    'rejects what a form can send (%s), even from the console',
    async (type) => {
      const sameOrigin = { 'Sec-Fetch-Site': 'same-origin', 'X-Gatehouse': '1' }
      expect((await attempt({ 'Content-Type': type, ...sameOrigin })).status).toBe(415)
    },
  )

  it('allows no other origin in any response', async () => {
    const response = await attempt({ Origin: 'https://evil.example' }, 'GET')
    const names = [...response.headers.keys()]
    expect(names.filter((name) => name.startsWith('access-control-'))).toEqual([])
  })
})

describe('permissions', () => {
  /** Returns every route with its declared permission and a path that matches it. */
  const routes = () => {
    const found = new Map<string, { declared: Declared | undefined; path: string }>()
    for (const { method, path, handler } of app.routes) {
      if (method === 'ALL' || /^\/_(?:console|oauth2|idp)/.test(path)) continue
      const known = found.get(`${method} ${path}`)
      found.set(`${method} ${path}`, {
        declared: known?.declared ?? permissionOf(handler),
        // The target does not exist: permitted requests get another error than 401 and 403.
        path: path.replace(/:id(?=\/session)/, 'me').replace(/:[a-z]+(?:\{[^}]*\})?/g, 'absent'),
      })
    }
    return [...found].map(([route, { declared, path }]) => ({
      route,
      method: route.split(' ')[0],
      path,
      permission: declared?.bySession,
      byToken: declared?.byToken,
    }))
  }

  it('are declared by every route', () => {
    expect(routes().filter(({ permission }) => permission === undefined)).toEqual([])
    expect(routes().length).toBeGreaterThan(20)
  })

  it('let a token change people, sessions and tokens only with the role admin', () => {
    const changes = routes().filter(
      ({ method, route }) => method !== 'GET' && /^\S+ \/_api\/(?:user|token)/.test(route),
    )
    expect(changes.map(({ byToken }) => byToken)).toEqual(changes.map(() => 'admin'))
    expect(changes.map(({ permission }) => permission)).toContain('pending')
    // Tokens of a viewer may use no other changing route.
    const read = (method: string | undefined) => method === 'GET'
    const open = routes().filter(
      ({ method, byToken }) => !read(method) && !atLeast(byToken as Role, 'editor'),
    )
    expect(open.map(({ route }) => route)).toEqual(['DELETE /_api/session'])
  })

  /** Signs in a person with a role. Returns the secret of the session and the person. */
  const signInWith = async (subject: string, role: Role, databases: string | null = null) => {
    const identity = { provider: 'github', issuer: 'a', subject, name: null }
    const secret = await access.signIn(
      { ...identity, accessToken: 'x', operatorKey: null },
      { address: null, userAgent: null },
    )
    const person = (await access.people()).find(({ username }) => username === `github:${subject}`)
    await store.db
      .updateTable('people')
      .set({ role, databases })
      .where('id', '=', person?.id ?? '')
      .execute()
    access.sync()
    return { secret, person }
  }

  it.each(['viewer', 'editor', 'operator', 'admin'] as const)(
    'let a session of %s that is limited to a database read the administration, change nothing outside of it, and manage its own credentials',
    async (role) => {
      const { secret } = await signInWith(`limited-${role}`, role, '["blog"]')
      const headers = {
        Cookie: `gatehouse_test=${secret}`,
        Origin: 'http://localhost:8529',
        'X-Gatehouse': '1',
      }
      for (const prefix of ['/_db/_system', '/_db/blog']) {
        for (const { route, method = 'GET', path, permission } of routes()) {
          const isApi = /^\/_api\/(?!health)/.test(path)
          if ((isApi && prefix === '/_db/blog') || route === 'DELETE /_api/session') continue
          const body = method === 'GET' || method === 'DELETE' ? {} : { body: '{}' }
          const response = await request(prefix + path, { method, headers, ...body })
          await response.body?.cancel()
          const isOwn = /^\/_api\/(token|user\/me\/session|webhook)/.test(path)
          const isOpen = permission === 'public' || permission === 'known'
          const inScope = prefix === '/_db/blog' || (isApi && (method === 'GET' || isOwn))
          const may = isOpen || (inScope && atLeast(role, permission as Role))
          expect([prefix, route, response.status === 403]).toEqual([prefix, route, !may])
        }
      }
      const listed = await request('/_api/database', { headers })
      expect(await listed.json()).toEqual([{ name: 'blog' }])
    },
  )

  it.each(ROLES)("allow %s exactly the role's requests", async (role) => {
    const { secret, person } = await signInWith(role, role)
    for (const { route, method, path, permission } of routes()) {
      const response = await request(path, {
        method: method ?? 'GET',
        headers: {
          Cookie: `gatehouse_test=${secret}`,
          Origin: 'http://localhost:8529',
          'X-Gatehouse': '1',
        },
        ...(method === 'GET' || method === 'DELETE' ? {} : { body: '{}' }),
      })
      const may =
        permission === 'public' || permission === 'known' || atLeast(role, permission as Role)
      // A person without access has no session.
      const rejected = role === 'none' ? 401 : 403
      expect([route, response.status === rejected]).toEqual([route, !may])
      await response.body?.cancel()
      // `DELETE /_api/session` ended the session; store it again.
      if (route === 'DELETE /_api/session' && role !== 'none') {
        await store.db
          .insertInto('sessions')
          .values({
            hash: hashSecret(secret),
            id: `${role}-again`,
            person_id: person?.id ?? '',
            created_at: Date.now(),
            last_seen_at: Date.now(),
            expires_at: Date.now() + 60_000,
          })
          .execute()
      }
    }
  })

  it('allow anonymous callers only public routes, on any endpoint', async () => {
    for (const { route, method, path, permission } of routes()) {
      const init = { method: method ?? 'GET', headers: { Cookie: 'x=y' } }
      const response = await request(path, init, outside)
      const open = permission === 'public' || permission === 'known'
      expect([route, response.status === 401]).toEqual([route, !open])
      if (!open) expect(response.headers.get('WWW-Authenticate')).toBe('Bearer')
      await response.body?.cancel()
    }
  })

  it.each(['viewer', 'editor', 'operator', 'admin'] as const)(
    "allow a token of %s its role's requests in the databases of its scope",
    async (role) => {
      const owner = (await access.people()).find(({ username }) => username === OPERATOR.username)
      const actor = { name: OPERATOR.username, by: 'session', address: null } as const
      const scopes = [
        ['_system'],
        ['blog'],
        ['_system', 'blog'],
        ['_system', 'absent'],
        ['nowhere'],
      ]
      for (const databases of [null, ...scopes]) {
        const who = { personId: owner?.id ?? '', role: 'admin' } as const
        const input = { name: 'scoped', role, databases }
        const made = await access.createToken(who, input, actor)
        const Authorization = `Bearer ${made.token}`
        for (const [prefix, database] of [
          ['', '_system'],
          ['/_db/_system', '_system'],
          ['/_db/blog', 'blog'],
          ['/_db/nowhere', undefined],
        ] as const) {
          for (const { route, method, path, byToken: permission } of routes()) {
            const response = await request(prefix + path, {
              method: method ?? 'GET',
              headers: { Authorization },
              ...(method === 'GET' || method === 'DELETE' ? {} : { body: '{}' }),
            })
            await response.body?.cancel()
            const away = database === undefined
            const elsewhere = database === 'blog' && /^\/_api\/(?!health)/.test(path)
            const open = permission === 'public' || permission === 'known'
            const needed = route.startsWith('DELETE /_api/database/')
              ? [database ?? '', 'absent']
              : // The database of a webhook is compared.
                path.startsWith('/_api/webhook')
                ? []
                : [database ?? '']
            const may =
              open ||
              (atLeast(role, permission as Role) &&
                (databases === null ||
                  (!route.startsWith('DELETE /_api/provider/') &&
                    needed.every((name) => databases.includes(name)))))
            const expected = away ? 404 : elsewhere ? 400 : may ? 'let through' : 403
            const { status } = response
            const got = status === 403 || (typeof expected === 'number' && status === expected)
            const where = `${route} in ${prefix}, scope ${databases}`
            expect([where, got ? status : 'let through']).toEqual([where, expected])
          }
        }
      }
    },
  )
})
