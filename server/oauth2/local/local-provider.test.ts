import { afterEach, expect, test } from 'vitest'
import { HTTP_LIMITS } from '../../endpoints/listeners/http-engine.ts'
import { hashSecret } from '../../secret.ts'
import { forEngine } from '../../storage/test-support/each-engine.testing.ts'
import { createBrowser } from '../sign-in/browser.testing.ts'
import { KEY, signInUpToCallback, start, startNode, stopNodes } from './local-provider.testing.ts'
import { inProcessFetch } from './local-provider.ts'
import { endLocalSignIns } from './local-provider-adapter.ts'

// Tests the whole flow over HTTP: start, key page, callback. Each node is a server on its own port.

forEngine('sqlite', (engine) => {
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
      operatorKey: hashSecret(KEY),
    })
    // The local provider keeps neither a login nor any other state of a completed sign-in.
    expect(await store.db.selectFrom('local_provider').select('key').execute()).toEqual([])
  })

  test('a path with an encoded backslash does not start a sign-in past the limit', async () => {
    const store = await engine.open()
    const { origin } = await startNode(store)
    const browser = createBrowser()
    const started = await browser.request('POST', new URL(start(origin)), {})
    const { search } = new URL(started.headers.location ?? '', origin)
    for (const path of ['/_idp/auth/..%5Cauth', '/_idp/auth/x%5C..%5C..%5Cauth']) {
      const page = await browser.request('GET', new URL(path + search, origin))
      expect(page.headers.location).toContain('/_oauth2/local/auth?error=invalid_request')
    }
    expect(await store.db.selectFrom('local_provider').select('key').execute()).toEqual([])
  })

  test.each(['/_idp/auth', '/_idp/auth/x'])(
    'a request for %s with many parameters is rejected before the provider reads them',
    async (path) => {
      const { origin } = await startNode(await engine.open())
      const parameters = (count: number) => '&a=b'.repeat(count)
      const browser = createBrowser()
      const pageOf = (count: number) =>
        browser.request('GET', new URL(`${path}?${parameters(count)}`, origin))
      const rejected = await pageOf(51)
      expect(rejected.status).toBe(400)
      expect(rejected.text).toContain('The request has more than 50 parameters.')
      expect((await pageOf(50)).text).not.toContain('more than 50 parameters')
    },
  )

  test('a request whose URL is almost as long as the limit of headers is rejected', async () => {
    const { origin } = await startNode(await engine.open())
    const url = new URL(`/_idp/auth?x=${'a'.repeat(16_300)}`, origin)
    expect((await createBrowser().request('GET', url)).status).toBe(400)
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

  test('wrong keys are rejected, with 429 after too many from one address; the right key is always accepted', async () => {
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
    const half = await signInUpToCallback(browser, node.origin)
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
    const half = await signInUpToCallback(browser, node.origin)
    const code = new URL(half.headers.location ?? '').searchParams.get('code') ?? ''
    expect(code).not.toBe('')
    const text = JSON.stringify(await store.db.selectFrom('local_provider').selectAll().execute())
    for (const secret of [code, KEY, ...[...browser.jar.values()].map(({ value }) => value)]) {
      expect(text).not.toContain(secret)
    }
  })
})

test('passes on a URL and a redirect that percent-encoding has made three times as long', async () => {
  const send = inProcessFetch((request, response) => {
    response.writeHead(303, { Location: request.url }).end()
  })
  const url = new URL('http://x/')
  url.search = "'".repeat(HTTP_LIMITS.maxHeaderSize)
  const response = await send(url.href, {})
  expect(response.status).toBe(303)
  expect(response.headers.get('Location')).toBe(`/${url.search}`)
})
