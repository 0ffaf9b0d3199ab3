import { afterEach, describe, expect, test } from 'vitest'
import { forEngine } from '../../storage/test-support/each-engine.testing.ts'
import { createBrowser } from '../sign-in/browser.testing.ts'
import { KEY, start, startNode, stopNodes } from './local-provider.testing.ts'

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
