import { describe, expect, test } from 'vitest'
import { forEngine } from '../../storage/test-support/each-engine.testing.ts'
import { openSignIn } from './sign-in.testing.ts'

forEngine('sqlite', (engine) => {
  describe('the start', () => {
    test.each([
      ['no browser', {}, 303],
      ['our page', { Origin: 'http://localhost:8529', 'Sec-Fetch-Site': 'same-origin' }, 303],
      ['our page in an older browser', { Origin: 'http://localhost:8529' }, 303],
      ['a bookmark', { 'Sec-Fetch-Site': 'none' }, 303],
      ['another page', { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' }, 403],
      ['another page in an older browser', { Origin: 'https://evil.example' }, 403],
      ['another port', { Origin: 'http://localhost:3000', 'Sec-Fetch-Site': 'same-site' }, 403],
      ['a sandboxed page', { Origin: 'null' }, 403],
      ['a page that hides its origin', { 'Sec-Fetch-Site': 'cross-site' }, 403],
    ])('by a form of %s', async (_, headers, status) => {
      const { harness } = await openSignIn(engine)
      const { answer } = await harness.start('oauth2', headers as Record<string, string>)
      expect(answer.status).toBe(status)
      if (status === 403) expect(answer.headers.getSetCookie()).toEqual([])
    })

    test('stores the page to return to, on this origin only', async () => {
      const { harness } = await openSignIn(engine)
      for (const [returnTo, location] of [
        ['/_console/endpoints?a=b#c', 'http://localhost:8529/_console/endpoints?a=b#c'],
        ['//evil.example', 'http://localhost:8529/'],
        ['/\\evil.example', 'http://localhost:8529/'],
        ['https://evil.example', 'http://localhost:8529/'],
      ]) {
        const form = new URLSearchParams({ returnTo: returnTo ?? '' }).toString()
        const type = { 'Content-Type': 'application/x-www-form-urlencoded' }
        const { token } = await harness.start('oauth2', type, form)
        const response = await harness.callback('oauth2', { csrfToken: token, code: 'c' }, token)
        expect(response.headers.get('Location')).toBe(location)
      }
    })

    test.each(['evil.example', '192.0.2.1:8529', 'localhost.evil.example', '0.0.0.0:8529', 'x y'])(
      'under the host %s requires --public-url',
      async (host) => {
        const { harness } = await openSignIn(engine)
        const { answer } = await harness.start('oauth2', { Host: host })
        expect(answer.status).toBe(400)
        expect(await answer.text()).toContain('--public-url')
        expect(answer.headers.getSetCookie()).toEqual([])
      },
    )

    test('uses the public URL with any Host and any proxy', async () => {
      const { harness } = await openSignIn(engine, {}, { publicOrigin: 'https://gate.example' })
      for (const headers of [
        { Host: 'gate.example' },
        { Host: 'evil.example' },
        { 'X-Forwarded-Host': 'evil.example', 'X-Forwarded-Proto': 'http' },
        { Forwarded: 'host=evil.example' },
      ] as Record<string, string>[]) {
        const { sent } = await harness.start('oauth2', headers)
        expect(sent.get('redirect_uri')).toMatch(
          /^https:\/\/gate\.example\/_oauth2\/oauth2\/auth\?/,
        )
      }
    })

    test('on this machine also accepts the Host of the request', async () => {
      const { harness } = await openSignIn(engine, {}, { publicOrigin: 'https://gate.example' })
      const { sent } = await harness.start('oauth2', { Origin: 'http://localhost:8529' })
      expect(sent.get('redirect_uri')).toMatch(/^http:\/\/localhost:8529\//)
    })

    test('ignores forwarded headers of an untrusted peer', async () => {
      const { harness } = await openSignIn(engine)
      const headers = { 'X-Forwarded-Host': 'evil.example', 'X-Forwarded-Proto': 'https' }
      const { sent, setCookie } = await harness.start('oauth2', headers)
      expect(sent.get('redirect_uri')).toMatch(/^http:\/\/localhost:8529\//)
      expect(setCookie).not.toContain('Secure')
    })

    test('is rejected for a form beyond 16 KiB, and for an unknown provider', async () => {
      const { harness } = await openSignIn(engine)
      const type = {
        'Content-Type': 'application/x-www-form-urlencoded',
        'Content-Length': '16385',
      }
      expect((await harness.start('oauth2', type, 'x'.repeat(16_385))).answer.status).toBe(413)
      expect((await harness.start('github')).answer.status).toBe(404)
      expect((await harness.callback('github', {})).status).toBe(404)
    })
  })
})
