import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Hono } from 'hono'
import { pino } from 'pino'
import { afterEach, describe, expect, test } from 'vitest'
import type { AppEnv, ListenerContext } from '../../http/env.ts'
import { createClientOf } from '../../http/guards/client-address.ts'
import { nodeHandler } from '../../http/node-handler.ts'
import { renderFailure, toFailure } from '../../http/output/render-failure.ts'
import { securityHeaders } from '../../http/output/security-headers.ts'
import { createFailureLimit } from '../../storage/changes/failure-limit.ts'
import type { Store } from '../../storage/store.ts'
import { forEachEngine, forEngine } from '../../storage/test-support/each-engine.testing.ts'
import { createVault } from '../../storage/vault.ts'
import type { Identity } from '../providers/identity.ts'
import { oauth2Routes } from '../routes.ts'
import { createBrowser } from '../sign-in/browser.testing.ts'
import { hashOf } from '../sign-in/csrf-token.ts'
import { createPendingSignIns } from '../sign-in/pending-sign-in.ts'
import { createSignInLimit } from '../sign-in/sign-in-limit.ts'
import { createLocalProvider } from './local-provider.ts'
import { endLocalSignIns } from './local-provider-adapter.ts'
import { localProviderRoutes } from './local-provider-routes.ts'

// Tests the whole flow over HTTP: start, key page, callback. Each node is a server on its own port.

const KEY = 'canary-operator-key-9c2e41'
const secretKey = new Uint8Array(32).fill(3)

interface NodeOptions {
  readonly publicOrigin?: string
  readonly trusted?: readonly string[]
  readonly clock?: { now: number }
}

const running: (() => Promise<void>)[] = []

/** Stops the nodes of a test. Call it before their stores are closed. */
const stopNodes = async () => {
  for (const stop of running.splice(0)) await stop()
}

async function startNode(store: Store, options: NodeOptions = {}) {
  const { publicOrigin, clock } = options
  const now = () => clock?.now ?? Date.now()
  const key = { now: KEY }
  const signedIn: Identity[] = []
  const errors: unknown[] = []
  const clientOf = createClientOf(options.trusted ?? [])
  const vault = createVault(secretKey)
  const failures = createFailureLimit(store, now, (error) => errors.push(error))
  const local = createLocalProvider({
    store,
    vault,
    secretKey,
    operatorKey: () => key.now,
    fingerprint: hashOf,
    publicOrigin,
    countFailure: failures.count,
    now,
    onError: (error) => errors.push(error),
  })
  const app = new Hono<AppEnv>()
    .use(securityHeaders)
    .route(
      '/_oauth2',
      oauth2Routes({
        limit: createSignInLimit(Date.now),
        recordFailed: async () => {},
        providers: [local.provider],
        pending: createPendingSignIns(store, vault, now),
        beginSession: async (_, identity) => `session=${signedIn.push(identity)}; Path=/`,
        hasSession: async () => false,
        clientOf,
        publicOrigin,
        fonts: undefined,
        log: pino({ level: 'silent' }),
      }),
    )
    .route(
      '/_idp',
      localProviderRoutes({
        local,
        limit: createSignInLimit(Date.now),
        recordFailed: async () => {},
        clientOf,
        publicOrigin,
      }),
    )
  app.onError((error, c) => {
    const failure = toFailure(error)
    if (failure.kind.status >= 500) errors.push(failure.cause)
    return renderFailure(failure, c)
  })
  app.get('/', (c) => c.text('the root'))
  const listener: ListenerContext = {
    name: 'tcp://127.0.0.1:0',
    address: { scheme: 'tcp' },
    mapping: { names: [], defaultDatabase: '_system' },
    draining: new AbortController().signal,
  }
  const server: Server = createServer(nodeHandler(app.fetch, () => listener))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  running.push(async () => {
    server.closeAllConnections()
    server.close()
    await failures.stop()
    expect(errors).toEqual([])
  })
  const { port } = server.address() as AddressInfo
  return { origin: `http://127.0.0.1:${port}`, port, signedIn, key, errors, failures }
}

const start = (origin: string) => `${origin}/_oauth2/local/auth`

forEachEngine((engine) => {
  afterEach(stopNodes)

  test('the operator key signs in, and is requested each time', async () => {
    const store = await engine.open()
    const node = await startNode(store)
    const browser = createBrowser()
    for (const time of [1, 2]) {
      const page = await browser.post(start(node.origin), { returnTo: '/?from=here' })
      expect(page.url.pathname).toMatch(/^\/_idp\/key\//)
      expect(page.status).toBe(200)
      expect(page.text).toContain('gatehouse operator-key')
      const root = await browser.post(page.url, { key: ` ${KEY}\n` })
      expect(root.url.href).toBe(`${node.origin}/?from=here`)
      expect(root.text).toBe('the root')
      expect(node.signedIn).toHaveLength(time)
    }
    expect(node.signedIn[0]).toEqual({
      provider: 'local',
      issuer: 'gatehouse',
      subject: 'operator',
      name: 'Operator',
      accessToken: expect.any(String),
      operatorKey: hashOf(KEY),
    })
    // The local provider keeps neither a login nor any other state of a completed sign-in.
    expect(await store.db.selectFrom('local_provider').select('key').execute()).toEqual([])
  })

  test('several nodes serve one sign-in', async () => {
    const store = await engine.open()
    const [a, b, c] = [await startNode(store), await startNode(store), await startNode(store)]
    const browser = createBrowser()
    const at = (url: URL, port: number) => Object.assign(new URL(url), { port: String(port) })
    // Simulates a load balancer: the browser sees a single host, the one of the first node.
    const headers = { Host: new URL(a.origin).host }
    let page = await browser.request('POST', new URL(start(a.origin)), {})
    page = await browser.request(
      'GET',
      at(new URL(page.headers.location ?? '', a.origin), b.port),
      undefined,
      headers,
    )
    const keyPage = new URL(page.headers.location ?? '', a.origin)
    page = await browser.request(
      'POST',
      at(keyPage, c.port),
      { key: KEY },
      { ...headers, Origin: a.origin },
    )
    expect(page.status).toBe(303)
    page = await browser.request(
      'GET',
      at(new URL(page.headers.location ?? '', a.origin), a.port),
      undefined,
      headers,
    )
    const callback = new URL(page.headers.location ?? '')
    expect(callback.origin).toBe(a.origin)
    page = await browser.request('GET', at(callback, b.port), undefined, headers)
    expect(page.headers.location).toBe(`${a.origin}/`)
    expect(b.signedIn).toMatchObject([{ subject: 'operator' }])
  })

  test('a wrong key is rejected, with 429 after too many from one address, the right one never', async () => {
    const clock = { now: 1_000 }
    const [one, two] = await (async () => {
      const store = await engine.open()
      return [await startNode(store, { clock }), await startNode(store, { clock })]
    })()
    const browser = createBrowser()
    const page = await browser.post(start(one.origin), {})
    const statuses: number[] = []
    for (let tried = 0; tried < 22; tried++) {
      const refused = await browser.post(page.url, { key: `wrong ${tried}` })
      statuses.push(refused.status)
      expect(refused.text).toContain(
        tried < 20 ? 'The operator key is incorrect' : 'Too many failed attempts',
      )
      expect(refused.text).not.toContain('wrong ')
      if (tried >= 20) expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
    }
    expect(statuses).toEqual([...Array(20).fill(403), 429, 429])
    // The count is shared: the other node rejects attempts once it has read the count from the
    // database.
    await one.failures.store()
    const elsewhere = await createBrowser()
    const other = await elsewhere.post(start(two.origin), {})
    expect((await elsewhere.post(other.url, { key: 'wrong' })).status).toBe(403)
    await two.failures.store()
    expect((await elsewhere.post(other.url, { key: 'wrong' })).status).toBe(429)
    expect(two.signedIn).toEqual([])
    // Failures don't lock the operator out: the right key is still accepted.
    expect((await browser.post(page.url, { key: KEY })).text).toBe('the root')
    clock.now += 5 * 60 * 1000
    const later = await elsewhere.post(start(two.origin), {})
    expect((await elsewhere.post(later.url, { key: 'wrong' })).status).toBe(403)
  })

  test('renewing the key ends sign-ins in progress with the old one', async () => {
    const store = await engine.open()
    const node = await startNode(store)
    const browser = createBrowser()
    const page = await browser.post(start(node.origin), {})
    const half = await browser.post(page.url, { key: KEY }, (url) =>
      url.pathname.startsWith('/_oauth2'),
    )
    node.key.now = 'another-operator-key'
    await endLocalSignIns(store)
    const refused = await browser.get(half.headers.location ?? '')
    expect(refused.status).toBe(400)
    expect(node.signedIn).toEqual([])
  })

  test('its stored data contains no usable secret', async () => {
    const store = await engine.open()
    const node = await startNode(store)
    const browser = createBrowser()
    const page = await browser.post(start(node.origin), {})
    const half = await browser.post(page.url, { key: KEY }, (url) =>
      url.pathname.startsWith('/_oauth2'),
    )
    const code = new URL(half.headers.location ?? '').searchParams.get('code') ?? ''
    expect(code).not.toBe('')
    const text = JSON.stringify(await store.db.selectFrom('local_provider').selectAll().execute())
    for (const secret of [code, KEY, ...[...browser.jar.values()].map(({ value }) => value)]) {
      expect(text).not.toContain(secret)
    }
  })
})

describe('the key page', () => {
  forEngine('sqlite', (engine) => {
    afterEach(stopNodes)

    test('runs no script, allows no frames, and restricts its form', async () => {
      const node = await startNode(await engine.open())
      const page = await createBrowser().post(start(node.origin), {})
      expect(page.headers['content-security-policy']).toBe(
        "default-src 'none'; style-src 'self'; font-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
      )
      expect(page.headers['cache-control']).toBe('no-store')
      expect(page.text).not.toMatch(/<script|<style|\sstyle=|\son[a-z]+=/)
      expect((await createBrowser().get(`${node.origin}/_oauth2/page.css`)).status).toBe(200)
    })

    test('redirects of the provider have the headers of every response', async () => {
      const node = await startNode(await engine.open())
      const browser = createBrowser()
      const page = await browser.post(start(node.origin), {}, (url) =>
        url.pathname.startsWith('/_idp/key'),
      )
      expect(page.url.pathname).toBe('/_idp/auth')
      expect(page.headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-store',
        'referrer-policy': 'same-origin',
      })
    })

    test.each([
      [{ Origin: 'https://evil.example' }],
      [{ Origin: 'null' }],
      [{ 'Sec-Fetch-Site': 'cross-site' }],
      [{ 'Sec-Fetch-Site': 'same-site' }],
    ])('rejects a form of another page: %j', async (headers) => {
      const node = await startNode(await engine.open())
      const browser = createBrowser()
      const page = await browser.post(start(node.origin), {})
      expect((await browser.post(page.url, { key: KEY }, undefined, headers)).status).toBe(403)
      expect((await browser.post(start(node.origin), {}, undefined, headers)).status).toBe(403)
      expect(node.signedIn).toEqual([])
    })

    test('shows a page to start over without the cookies of the sign-in', async () => {
      const node = await startNode(await engine.open())
      const page = await createBrowser().post(start(node.origin), {})
      const stranger = createBrowser()
      for (const answer of [
        await stranger.get(page.url),
        await stranger.post(page.url, { key: KEY }),
        await stranger.get(page.url.href.replace('/key/', '/auth/')),
      ]) {
        expect(answer.status).toBe(400)
        expect(answer.text).toContain('action="/_oauth2/local/auth"')
      }
      expect(node.signedIn).toEqual([])
    })

    test('belongs to the sign-in in its URL, with any cookies', async () => {
      const node = await startNode(await engine.open())
      const browser = createBrowser()
      const [one, two] = [
        await browser.post(start(node.origin), {}),
        await browser.post(start(node.origin), {}),
      ]
      const cookie = [...browser.jar]
        .filter(([key]) => key.includes(one.url.pathname))
        .map(([key, { value }]) => `${key.split(' ')[2]}=${value}`)
        .join('; ')
      const crossed = await browser.request('POST', two.url, { key: KEY }, { Cookie: cookie })
      expect(crossed.status).toBe(400)
      expect(
        (await browser.request('POST', one.url, { key: KEY }, { Cookie: cookie })).status,
      ).toBe(303)
    })

    test.each(['/token', '/jwks', '/.well-known/openid-configuration', '/session/end', '/me', '/'])(
      'is the only public path: %s is not reachable',
      async (path) => {
        const node = await startNode(await engine.open())
        expect((await createBrowser().get(`${node.origin}/_idp${path}`)).status).toBe(404)
      },
    )

    test('asks for the key also without prompt=login', async () => {
      const node = await startNode(await engine.open())
      const browser = createBrowser()
      const authorize = async () => {
        const page = await browser.post(
          start(node.origin),
          {},
          (url) => url.pathname === '/_idp/auth',
        )
        const url = new URL(page.headers.location ?? '')
        url.searchParams.delete('prompt')
        return browser.get(url, (next) => next.pathname.startsWith('/_oauth2'))
      }
      const page = await authorize()
      await browser.post(page.url, { key: KEY }, (url) => url.pathname.startsWith('/_oauth2'))
      // The callback was not called, so a session of the provider remains. It must not replace the
      // key.
      expect((await authorize()).url.pathname).toMatch(/^\/_idp\/key\//)
    })

    test.each([
      ['a foreign host', 'https://evil.example/_oauth2/local/auth'],
      ['another path', 'http://127.0.0.1/_oauth2/github/auth'],
      ['a query', 'http://127.0.0.1/_oauth2/local/auth?x=1'],
      ['a user', 'http://evil@127.0.0.1/_oauth2/local/auth'],
      ['a host that begins alike', 'http://127.0.0.1.evil.example/_oauth2/local/auth'],
    ])('never redirects to %s', async (_, uri) => {
      const node = await startNode(await engine.open())
      const browser = createBrowser()
      const page = await browser.post(
        start(node.origin),
        {},
        (url) => url.pathname === '/_idp/auth',
      )
      const url = new URL(page.headers.location ?? '')
      url.searchParams.set('redirect_uri', uri)
      const response = await browser.get(url)
      expect(response.status).toBe(400)
      expect(response.headers.location).toBeUndefined()
    })

    test('works behind a trusted proxy that terminates TLS, with Secure cookies', async () => {
      const node = await startNode(await engine.open(), {
        publicOrigin: 'https://gate.example',
        trusted: ['127.0.0.1'],
      })
      const browser = createBrowser()
      const headers = {
        'X-Forwarded-Proto': 'https',
        'X-Forwarded-Host': 'gate.example',
        'X-Forwarded-For': '203.0.113.9',
        Origin: 'https://gate.example',
      }
      const here = (location: string | undefined) => {
        const url = new URL(location ?? '', 'https://gate.example')
        expect(url.origin).toBe('https://gate.example')
        return new URL(url.pathname + url.search, node.origin)
      }
      let page = await browser.request('POST', new URL(start(node.origin)), {}, headers)
      const cookies = [...(page.headers['set-cookie'] ?? [])]
      page = await browser.request('GET', here(page.headers.location), undefined, headers)
      cookies.push(...(page.headers['set-cookie'] ?? []))
      page = await browser.request('POST', here(page.headers.location), { key: KEY }, headers)
      page = await browser.request('GET', here(page.headers.location), undefined, headers)
      cookies.push(...(page.headers['set-cookie'] ?? []))
      page = await browser.request('GET', here(page.headers.location), undefined, headers)
      expect(page.headers.location).toBe('https://gate.example/')
      expect(node.signedIn).toHaveLength(1)
      expect(cookies.length).toBeGreaterThan(4)
      for (const cookie of cookies) expect(cookie).toMatch(/; secure(;|$)/i)
    })

    test('ignores forwarded headers of other peers', async () => {
      const node = await startNode(await engine.open())
      const headers = { 'X-Forwarded-Proto': 'https', 'X-Forwarded-Host': 'evil.example' }
      const page = await createBrowser().request('POST', new URL(start(node.origin)), {}, headers)
      expect(page.headers.location).toMatch(node.origin)
      expect(page.headers['set-cookie']?.join()).not.toContain('Secure')
    })
  })
})
