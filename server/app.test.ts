import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import { type Access, createAccess } from './access/access.ts'
import { OPERATOR } from './access/people.ts'
import { hashSecret } from './access/secret-text.ts'
import { createTokenByCommand } from './access-command.ts'
import { type Api, createApp } from './app.ts'
import { createAuditLog } from './audit/audit-log.ts'
import { createRecorder, START } from './audit/record.ts'
import { atLeast, ROLES, type Role } from './contract/role.ts'
import { createDatabaseRegistry } from './databases/registry.ts'
import { createDocumentRules } from './documents/document-rules.ts'
import { createDocuments } from './documents/documents.ts'
import { createDocumentRepository } from './documents/repository.ts'
import { createSchemas } from './documents/schemas.ts'
import { createHttpEngine } from './endpoints/http-engine.ts'
import type { Listener } from './endpoints/listener.ts'
import { createMetrics } from './endpoints/metrics.ts'
import { createEndpointRegistry } from './endpoints/registry.ts'
import { createEventHub } from './events/hub.ts'
import { Failure } from './failure.ts'
import { logFault } from './health/log-fault.ts'
import type { Readiness } from './health/readiness.ts'
import { actionOf } from './http/audited.ts'
import type { Via } from './http/env.ts'
import { type Declared, permissionOf } from './http/permit.ts'
import { createJobs } from './jobs/jobs.ts'
import { createLocalProvider } from './oauth2/local-provider.ts'
import { createPendingSignIns } from './oauth2/pending-sign-in.ts'
import { countFailure } from './storage/failure-limit.ts'
import { openStore, type Store } from './storage/open.ts'
import { createVault } from './storage/vault.ts'

// Routes without a socket: requests are handed to the application as if an endpoint had.

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-'))
const events = createEventHub()
const record = createRecorder()
const readiness: Readiness = { reason: null }
const lines: string[] = []
const drain = new AbortController()
let store: Store
let app: Api
let access: Access
let token: string
let catchUp: () => Promise<void> | undefined = () => undefined

const via = (over: Partial<Via> = {}): Via => ({
  name: 'tcp://127.0.0.1:8529',
  address: { scheme: 'tcp' },
  mapping: { names: [], defaultDatabase: '_system' },
  draining: drain.signal,
  ...over,
})
const blog = via({ mapping: { names: ['blog', '_system'], defaultDatabase: 'blog' } })
const outside = via({ name: 'tcp://0.0.0.0:8529' })

const ask = async (path: string, init: RequestInit = {}, through = via()) => {
  const headers = new Headers(init.headers)
  if (!headers.has('Host')) headers.set('Host', 'localhost:8529')
  if (!headers.has('Authorization') && !headers.has('Cookie')) {
    headers.set('Authorization', `Bearer ${token}`)
  }
  return app.request(path, { ...init, headers }, { via: through })
}

beforeAll(async () => {
  const consoleFolder = join(folder, 'console')
  mkdirSync(join(consoleFolder, 'assets'), { recursive: true })
  writeFileSync(
    join(consoleFolder, 'index.html'),
    '<meta name="csp-nonce" content="__CSP_NONCE__"><i>__DRAIN_SECONDS__</i><b>__CERTIFICATE__</b>',
  )
  writeFileSync(join(consoleFolder, 'sign-in.html'), '<title>Sign in</title>')
  writeFileSync(join(consoleFolder, 'theme.js'), 'theme()')
  writeFileSync(join(consoleFolder, 'assets', 'main-abc.js'), 'main()')
  for (const font of ['geist-latin-ext', 'geist-latin', 'geist-mono-latin'])
    writeFileSync(join(consoleFolder, 'assets', `${font}-wght-normal-abc.woff2`), '')
  store = await openStore({ data: folder }, 'node')
  const vault = createVault(new Uint8Array(32))
  access = createAccess({ store, vault, record, admins: [], now: Date.now })
  token = await createTokenByCommand(store, record, { name: 'a', role: 'admin' }, Date.now())
  const databases = await createDatabaseRegistry(store, events.publish, record)
  await databases.create('blog', START)
  const endpoints = createEndpointRegistry({
    store,
    record,
    engine: createHttpEngine<Listener>(),
    certificate: undefined,
    publish: events.publish,
    grace: 0,
  })
  const log = pino({ level: 'debug' }, { write: (line) => lines.push(line) })
  app = createApp({
    access,
    documents: createDocuments(createDocumentRepository(store), Date.now),
    jobs: createJobs({
      store,
      rules: createDocumentRules(Date.now, () => undefined),
      now: Date.now,
      pause: async () => {},
      onError: () => {},
    }),
    schemas: createSchemas(store),
    sizes: { of: async () => new Map(), stop: async () => {} },
    providers: [],
    localProvider: createLocalProvider({
      store,
      vault,
      secretKey: new Uint8Array(32),
      operatorKey: () => 'the operator key',
      fingerprint: (key) => key,
      publicOrigin: 'https://gate.example.org',
      now: Date.now,
      onError: () => {},
    }),
    pendingSignIns: createPendingSignIns(store, vault, Date.now),
    countFailure: (key) => countFailure(store, key, Date.now()),
    instance: 'test',
    trustedProxies: [],
    endpoints,
    databases,
    audit: createAuditLog(store),
    events,
    metrics: createMetrics(() => endpoints.listeners()),
    readiness,
    log,
    logFault: (message) => logFault(store, log, message),
    node: 'a',
    otherListeners: () => [],
    otherNodes: () => [],
    publicOrigin: 'https://gate.example.org',
    drain: 30_000,
    certificate: false,
    consoleFolder,
    catchUp: () => catchUp(),
  })
})
afterAll(async () => {
  await store.close()
  rmSync(folder, { recursive: true })
})

describe('failures', () => {
  it('are the Error object under /_api, in UTF-8', async () => {
    for (const path of ['/_api', '/_api/nothing', '/_db/blog/_api/endpoint', '/_db/no/_api/x']) {
      const answer = await ask(path)
      expect(answer.headers.get('Content-Type')).toBe('application/json; charset=utf-8')
      expect(Object.keys((await answer.json()) as object)).toEqual([
        'error',
        'code',
        'errorNum',
        'errorMessage',
      ])
    }
  })

  it('are the error body elsewhere', async () => {
    const answer = await ask('/nothing/here/at/all')
    expect(answer.status).toBe(404)
    expect(answer.headers.get('Content-Type')).toBe('application/json')
    expect(await answer.json()).toEqual({ id: 'not_found', message: 'There is no such path.' })
  })

  it('are a page with the same status for a browser that navigates, with nothing unescaped', async () => {
    const path = '/_db/%3Cscript%3E/x'
    for (const header of [
      ['Sec-Fetch-Mode', 'navigate'],
      ['Accept', 'text/html,*/*'],
    ] as [string, string][]) {
      const answer = await ask(path, { headers: [header] })
      expect(answer.status).toBe(404)
      expect(answer.headers.get('Content-Type')).toContain('text/html')
      const page = await answer.text()
      expect(page).toContain('database not found')
      expect(page).not.toContain('<script>')
    }
  })

  it('tell nothing of what went wrong inside, which is logged', async () => {
    const { createApp: create } = await import('./app.ts')
    const log = pino({ level: 'error' }, { write: (line) => lines.push(line) })
    const broken = create({
      documents: {} as never,
      jobs: {} as never,
      schemas: {} as never,
      sizes: {} as never,
      access: { recall: () => ({ role: 'viewer', databases: null }) } as never,
      providers: [],
      localProvider: {} as never,
      pendingSignIns: {} as never,
      countFailure: async () => {},
      instance: 'test',
      trustedProxies: [],
      endpoints: {
        list() {
          throw new Error('the secret inside')
        },
        hasHost: () => false,
      } as never,
      databases: { has: () => true } as never,
      audit: createAuditLog(store),
      events,
      metrics: createMetrics(() => []),
      readiness,
      log,
      logFault: (message) => logFault(store, log, message),
      node: 'a',
      otherListeners: () => [],
      otherNodes: () => [],
      publicOrigin: undefined,
      drain: 30_000,
      certificate: true,
      consoleFolder: folder,
      catchUp: () => undefined,
    })
    const headers = { Host: 'localhost', Authorization: 'Bearer x' }
    const answer = await broken.request('/_api/endpoint', { headers }, { via: via() })
    expect(answer.status).toBe(500)
    expect(await answer.json()).toMatchObject({ error: true, code: 500, errorNum: 4 })
    expect(lines.join()).toContain('the secret inside')
  })
})

describe('the order of checks', () => {
  const as = (authorization: string) => ({
    method: 'POST',
    body: 'x',
    headers: { 'Content-Type': 'text/plain', Authorization: authorization },
  })
  const nobody = as('Bearer nobody')
  const post = (role: string) => as(`Bearer <${role}>`)
  const rows: [number, string, RequestInit, Via][] = [
    [421, '/_db/no/_console/', { headers: { Host: 'evil.example' } }, via()],
    [404, '/_db/no/_api/nothing', nobody, blog],
    [400, '/_db/blog/_api/nothing', nobody, blog],
    [404, '/_db/_system/_api/nothing', nobody, outside],
    [405, '/_api/address', { ...nobody, method: 'PUT' }, outside],
    [401, '/_api/endpoint', nobody, outside],
    [403, '/_api/endpoint', post('viewer'), outside],
    [415, '/_api/endpoint', post('admin'), outside],
  ]
  it.each(rows)('%i comes before what follows it', async (status, path, init, through) => {
    const role = /<(.*)>/.exec(String((init.headers as Record<string, string>).Authorization))?.[1]
    if (role !== undefined) {
      const flags = { name: 'a', role }
      const made = await createTokenByCommand(store, createRecorder(), flags, Date.now())
      init.headers = { ...init.headers, Authorization: `Bearer ${made}` }
    }
    expect((await ask(path, init, through)).status).toBe(status)
  })
})

test('a read by id goes through what `documents/at-once-routes.ts` asks, too, and no more', () => {
  // The log, the headers, what others have changed, the host of pages, the database, the permission
  // and the handler: one that is added here is to be added there.
  expect(app.router.match('GET', '/articles/one')[0]).toHaveLength(7)
})

/** The cookie of a new session of the operator. */
const signedIn = async () => {
  const secret = await access.signIn(
    {
      ...OPERATOR,
      name: null,
      tokens: { access: 'x', refresh: null, expires: null },
      operatorKey: 'x',
    },
    { address: null, userAgent: null },
  )
  return { Cookie: `gatehouse_test=${secret}` }
}

describe('the Host check', () => {
  it.each([
    'localhost',
    'LOCALHOST:1',
    'a.localhost',
    '127.0.0.1:8529',
    '10.1.2.3',
    '[::1]:8529',
    'gate.example.org',
  ])('lets a browser administer under %s', async (host) => {
    const headers = { Host: host, ...(await signedIn()) }
    expect((await ask('/_api/endpoint', { headers })).status).toBe(200)
    expect((await ask('/_console/', { headers })).status).toBe(200)
  })

  it.each([
    'evil.example',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '1.2.3',
    'gate.example.org.evil',
    '',
  ])('refuses a browser the administration, the console and the sign-in under %j', async (host) => {
    const headers = { Host: host, ...(await signedIn()) }
    for (const path of [
      '/_api/endpoint',
      '/_db/_system/_api/endpoint',
      '/_console/',
      '/%5Fconsole/',
      '/_oauth2/local/auth',
      '/_idp/auth',
    ]) {
      expect([path, (await ask(path, { headers })).status]).toEqual([path, 421])
    }
  })

  it('leaves data, health and tokens to any name', async () => {
    const headers = { Host: 'data.example' }
    expect((await ask('/', { headers }, blog)).status).toBe(200)
    expect((await ask('/_api/health', { headers })).status).toBe(200)
    expect((await ask('/_api/endpoint', { headers })).status).toBe(200)
  })
})

describe('the origin check', () => {
  const attempt = async (headers: Record<string, string>, method = 'POST') =>
    ask('/_api/database', {
      method,
      headers: { 'Content-Type': 'application/json', ...(await signedIn()), ...headers },
      ...(method === 'GET' ? {} : { body: JSON.stringify({ name: '_system' }) }),
    })
  // 409 is the answer of the route itself: the request got through.
  it.each([
    ['a browser that does not say whose page it is', { 'X-Gatehouse': '1' }, 403],
    ['what sets nothing but the cookie', {}, 403],
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
    'refuses what a form can send (%s), even from our own page',
    async (type) => {
      const ours = { 'Sec-Fetch-Site': 'same-origin', 'X-Gatehouse': '1' }
      expect((await attempt({ 'Content-Type': type, ...ours })).status).toBe(415)
    },
  )

  it('lets other pages read nothing: no answer allows another origin', async () => {
    const answer = await attempt({ Origin: 'https://evil.example' }, 'GET')
    const names = [...answer.headers.keys()]
    expect(names.filter((name) => name.startsWith('access-control-'))).toEqual([])
  })
})

describe('permissions', () => {
  /** Every route, with the permission that it declares, and a path that matches it. */
  const routes = () => {
    const found = new Map<string, { declared: Declared | undefined; path: string }>()
    for (const { method, path, handler } of app.routes) {
      if (method === 'ALL' || /^\/_(?:console|oauth2|idp)/.test(path)) continue
      const known = found.get(`${method} ${path}`)
      found.set(`${method} ${path}`, {
        declared: known?.declared ?? permissionOf(handler),
        // Nothing there is: whoever is let through finds that out.
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

  it('let a token change people, sessions and tokens only as an admin, its owner’s too', () => {
    const changes = routes().filter(
      ({ method, route }) => method !== 'GET' && /^\S+ \/_api\/(?:user|token)/.test(route),
    )
    expect(changes.map(({ byToken }) => byToken)).toEqual(changes.map(() => 'admin'))
    expect(changes.map(({ permission }) => permission)).toContain('pending')
    // Of whatever else changes something, a viewer's may do nothing.
    const read = (method: string | undefined) => method === 'GET'
    const open = routes().filter(
      ({ method, byToken }) => !read(method) && !atLeast(byToken as Role, 'operator'),
    )
    expect(open.map(({ route }) => route)).toEqual(['DELETE /_api/session'])
  })

  it.each(ROLES)('let %s do what the role may, and nothing else', async (role) => {
    const secret = await access.signIn(
      {
        provider: 'github',
        issuer: 'a',
        subject: role,
        name: null,
        tokens: { access: 'x', refresh: null, expires: null },
        operatorKey: null,
      },
      { address: null, userAgent: null },
    )
    const person = (await access.people()).find(({ username }) => username === `github:${role}`)
    await store.db
      .updateTable('people')
      .set({ role })
      .where('id', '=', person?.id ?? '')
      .execute()
    access.sync()
    for (const { route, method, path, permission } of routes()) {
      const answer = await ask(path, {
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
      expect([route, answer.status === 403]).toEqual([route, !may])
      await answer.body?.cancel()
      // Signing out is a route as well; whoever did is signed in again.
      if (route === 'DELETE /_api/session') {
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

  it('let nobody in who is not signed in, on any endpoint, but to what is public', async () => {
    for (const { route, method, path, permission } of routes()) {
      const init = { method: method ?? 'GET', headers: { Cookie: 'x=y' } }
      const answer = await ask(path, init, outside)
      const open = permission === 'public' || permission === 'known'
      expect([route, answer.status === 401]).toEqual([route, !open])
      if (!open) expect(answer.headers.get('WWW-Authenticate')).toBe('Bearer')
      await answer.body?.cancel()
    }
  })

  it.each(['viewer', 'operator', 'admin'] as const)(
    'let a token of %s do what its role may, in the databases of its scope',
    async (role) => {
      const owner = (await access.people()).find(({ username }) => username === OPERATOR.username)
      const actor = { name: OPERATOR.username, by: 'session', address: null } as const
      for (const databases of [null, ['_system'], ['blog'], ['_system', 'blog'], ['nowhere']]) {
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
            const answer = await ask(prefix + path, {
              method: method ?? 'GET',
              headers: { Authorization },
              ...(method === 'GET' || method === 'DELETE' ? {} : { body: '{}' }),
            })
            await answer.body?.cancel()
            const away = database === undefined
            const elsewhere = database === 'blog' && /^\/_api\/(?!health)/.test(path)
            const open = permission === 'public' || permission === 'known'
            const may =
              open ||
              (atLeast(role, permission as Role) &&
                (databases === null || databases.includes(database ?? '')))
            const expected = away ? 404 : elsewhere ? 400 : may ? 'let through' : 403
            const { status } = answer
            const got = status === 403 || (typeof expected === 'number' && status === expected)
            const where = `${route} in ${prefix}, scope ${databases}`
            expect([where, got ? status : 'let through']).toEqual([where, expected])
          }
        }
      }
    },
  )
})

describe('every answer', () => {
  it('carries the security headers, and no page may frame or run anything', async () => {
    for (const path of [
      '/',
      '/nothing',
      '/_api/endpoint',
      '/_api/nothing',
      '/_console/',
      '/_db/no/',
    ]) {
      const { headers } = await ask(path)
      expect(headers.get('X-Content-Type-Options')).toBe('nosniff')
      expect(headers.get('Content-Security-Policy')).toMatch(
        /^default-src 'none'.*frame-ancestors 'none'/,
      )
      expect(headers.get('Referrer-Policy')).toBe('same-origin')
      expect(headers.get('Cross-Origin-Opener-Policy')).toBe('same-origin')
      expect(headers.has('Strict-Transport-Security')).toBe(false)
    }
    catchUp = () => Promise.reject(new Failure('unavailable', 'The store is away.'))
    const away = await ask('/_console/')
    catchUp = () => undefined
    expect(away.status).toBe(503)
    expect(away.headers.get('X-Content-Type-Options')).toBe('nosniff')
    const encrypted = await ask('/', {}, via({ address: { scheme: 'ssl' } }))
    expect(encrypted.headers.get('Strict-Transport-Security')).toBe('max-age=31536000')
  })
})

describe('the console', () => {
  it('serves hashed files for ever and the page never from a cache', async () => {
    const file = await ask('/_console/assets/main-abc.js')
    expect(await file.text()).toBe('main()')
    expect(file.headers.get('Cache-Control')).toBe('public, max-age=31536000, immutable')
    const theme = await ask('/_console/theme.js')
    expect(theme.headers.get('Cache-Control')).toBe('no-cache')
    for (const path of ['/_console/', '/_console/index.html', '/_console/endpoints/new']) {
      const page = await ask(path)
      expect(page.status).toBe(200)
      expect(page.headers.get('Cache-Control')).toBe('no-store')
    }
  })

  it('gives each page a nonce of its own, and the policy the same', async () => {
    const nonces = await Promise.all(
      [1, 2].map(async () => {
        const page = await ask('/_console/')
        const nonce = /content="([^"]+)"/.exec(await page.text())?.[1] ?? ''
        expect(nonce).toMatch(/^[A-Za-z0-9+/]{22}==$/)
        const policy = page.headers.get('Content-Security-Policy') ?? ''
        expect(policy).toContain(`style-src 'self' 'nonce-${nonce}'`)
        expect(policy).not.toContain('unsafe')
        return nonce
      }),
    )
    expect(nonces[0]).not.toBe(nonces[1])
  })

  it('serves the sign-in page as a document of its own, whose form may lead anywhere', async () => {
    const page = await ask('/_console/sign-in?returnTo=%2F_console%2Fendpoints')
    expect(await page.text()).toBe('<title>Sign in</title>')
    expect(page.headers.get('Cache-Control')).toBe('no-store')
    const policy = page.headers.get('Content-Security-Policy') ?? ''
    expect(policy).toContain("script-src 'self'")
    expect(policy).not.toMatch(/form-action|unsafe|nonce/)
    expect((await ask('/_console/')).headers.get('Content-Security-Policy')).toContain(
      "form-action 'self'",
    )
  })

  it('writes the pages of the sign-in in the fonts of the console', async () => {
    const style = await (await ask('/_oauth2/page.css')).text()
    const files = [...style.matchAll(/url\("([^"]+)"\)/g)].map(([, file = '']) => file)
    expect(files).toEqual([
      '/_console/assets/geist-latin-wght-normal-abc.woff2',
      '/_console/assets/geist-mono-latin-wght-normal-abc.woff2',
    ])
    for (const file of files) expect((await ask(file)).status).toBe(200)
  })

  it('tells the page how long a removed endpoint drains', async () => {
    expect(await (await ask('/_console/')).text()).toContain('<i>30</i>')
  })

  it('tells the page whether ssl endpoints have a certificate', async () => {
    expect(await (await ask('/_console/')).text()).toContain('<b>no</b>')
  })

  it('answers 404 for a script that is gone, and nothing from outside its folder', async () => {
    expect((await ask('/_console/assets/gone.js')).status).toBe(404)
    const sneaky = await ask('/_console/..%2fgatehouse.sqlite')
    expect(await sneaky.text()).not.toContain('SQLite')
  })

  it('is served whatever the default database, where _system is reached', async () => {
    expect((await ask('/_console/', {}, blog)).status).toBe(200)
    const closed = via({ mapping: { names: ['blog'], defaultDatabase: 'blog' } })
    expect((await ask('/_console/', {}, closed)).status).toBe(404)
  })
})

describe('/_api/health', () => {
  it('answers in any database; readiness turns 503 with its reason, liveness does not', async () => {
    for (const path of ['/_api/health', '/_api/health/ready', '/_db/blog/_api/health']) {
      expect(await (await ask(path)).json()).toEqual({ alive: true, ready: true, reason: null })
    }
    readiness.reason = 'The node is stopping.'
    try {
      const answer = await ask('/_api/health/ready')
      expect(answer.status).toBe(503)
      expect(await answer.json()).toMatchObject({ ready: false, reason: 'The node is stopping.' })
      expect((await ask('/_api/health')).status).toBe(503)
      expect((await ask('/_api/health/live')).status).toBe(200)
    } finally {
      readiness.reason = null
    }
  })
})

describe('/_api/openapi.json', () => {
  it('describes every route under /_api, with the statuses of its answers', async () => {
    const spec = (await (await ask('/_api/openapi.json')).json()) as {
      openapi: string
      paths: Record<string, Record<string, { summary?: string; responses?: object }>>
    }
    expect(spec.openapi).toBe('3.1.0')
    const described = Object.entries(spec.paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([, operation]) => operation.summary !== undefined && operation.responses)
        .map(([method]) => `${method.toUpperCase()} ${path}`),
    )
    const served = app.routes
      .filter(({ method, path }) => method !== 'ALL' && path.startsWith('/_api'))
      .map(({ method, path }) => `${method} ${path.replace(/:([a-z]+)(?:\{[^}]*\})?/g, '{$1}')}`)
    expect(new Set(described)).toEqual(new Set(served))
    expect(served).toContain('DELETE /_api/endpoint/{address}')
  })

  it('is made from the schema that validates', async () => {
    const spec = (await (await ask('/_api/openapi.json')).json()) as never
    const body = (
      spec as {
        paths: Record<
          string,
          { post: { requestBody: { content: Record<string, { schema: object }> } } }
        >
      }
    ).paths['/_api/endpoint']?.post.requestBody.content['application/json']?.schema
    expect(body).toMatchObject({ type: 'object', required: ['endpoint'] })
  })
})

/** Changing routes that keep no record of their own: what they do changes nothing that is stored. */
const UNRECORDED = [
  'POST /_api/listener/:address{.+}/retry',
  'POST /_api/listener/:address{.+}/close',
]

describe('every change', () => {
  const routes = () => {
    const found = new Map<string, (string | undefined)[]>()
    for (const { method, path, handler } of app.routes) {
      if (!path.startsWith('/_api/') || ['ALL', 'GET'].includes(method)) continue
      const name = `${method} ${path}`
      found.set(name, [...(found.get(name) ?? []), actionOf(handler)])
    }
    return found
  }

  it('declares what the audit log calls it, or is known to keep no record', () => {
    const silent = [...routes()].filter(([, actions]) => actions.every((one) => one === undefined))
    expect(silent.map(([name]) => name)).toEqual(UNRECORDED)
  })

  it('declares it before its permission, the refusals of which are on record too', () => {
    const late = [...routes()].filter(
      ([name, actions]) => !UNRECORDED.includes(name) && actions[1] === undefined,
    )
    expect(late).toEqual([])
    expect(routes().get('POST /_api/endpoint')?.[1]).toBe('endpoint.add')
  })
})

describe('/_api/events', () => {
  /** Reads a stream until it has held `text`, and lets it go. */
  async function readUntil(answer: Response, text: string): Promise<string> {
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader()
    let read = ''
    while (reader !== undefined && !read.includes(text)) {
      const { value, done } = await reader.read()
      if (done) break
      read += value
    }
    await reader?.cancel()
    return read
  }

  it('tells what happens from now on, and resumes after the last event seen', async () => {
    const live = await ask('/_api/events')
    expect(live.headers.get('Content-Type')).toContain('text/event-stream')
    const before = events.lastId
    events.publish({ type: 'database', name: 'first' })
    expect(await readUntil(live, 'first')).toContain('{"type":"database","name":"first"}')

    events.publish({ type: 'database', name: 'second' })
    const resumed = await ask('/_api/events', { headers: { 'Last-Event-ID': before } })
    const read = await readUntil(resumed, 'second')
    expect(read.indexOf('first')).toBeGreaterThan(-1)
    expect(read.indexOf('second')).toBeGreaterThan(read.indexOf('first'))
  })

  it('tells a reader of another run to begin anew', async () => {
    const resumed = await ask('/_api/events', { headers: { 'Last-Event-ID': 'ffffffff-3' } })
    expect(await readUntil(resumed, 'reset')).toContain('{"type":"reset"}')
  })

  it('ends when its endpoint drains', async () => {
    const closing = new AbortController()
    const stream = await ask('/_api/events', {}, via({ draining: closing.signal }))
    const reader = stream.body?.getReader()
    await reader?.read()
    closing.abort()
    let ended = false
    while (!ended) ended = (await reader?.read())?.done ?? true
    expect(ended).toBe(true)
  })
})

describe('/_api/metrics', () => {
  it('answers in the text format of Prometheus', async () => {
    const answer = await ask('/_api/metrics')
    expect(answer.headers.get('Content-Type')).toContain('text/plain; version=0.0.4')
    expect(await answer.text()).toContain('# TYPE gatehouse_request_duration_seconds histogram')
  })
})

describe('the log', () => {
  it('has one line a request at debug', async () => {
    lines.length = 0
    await ask('/_api/database')
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({
        level: 20,
        method: 'GET',
        path: '/_api/database',
        status: 200,
        msg: 'request',
      }),
    ])
  })
})
