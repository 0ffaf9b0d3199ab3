import { describe, expect, onTestFinished, test } from 'vitest'
import { OTHER_TABS } from '../../http/guards/sign-in-cookies.ts'
import { forEachEngine, forEngine } from '../../storage/test-support/each-engine.testing.ts'
import { type PlainProvider, startPlainProvider } from '../providers/plain-provider.testing.ts'
import type { ProviderConfig } from '../providers/provider-config.ts'
import { hashOf } from './csrf-token.ts'
import { createSignInHarness, plainConfig, type SignInHarnessOptions } from './sign-in.testing.ts'

// Tests the defenses of the sign-in. sign-in-flow.test.ts tests the flow.

async function startProvider(): Promise<PlainProvider> {
  const provider = await startPlainProvider()
  onTestFinished(() => provider.close())
  return provider
}

const exchanges = (provider: PlainProvider) =>
  provider.requests.filter(({ path }) => path === '/token')

forEachEngine((engine) => {
  test('50 concurrent callbacks cause one session and one token request', async () => {
    const provider = await startProvider()
    const harness = createSignInHarness({
      store: await engine.open(),
      configs: [plainConfig(provider.origin)],
    })
    const { token } = await harness.start('oauth2')
    const query = { csrfToken: token, code: 'c', state: token }
    const responses = await Promise.all(
      Array.from({ length: 50 }, () => harness.callback('oauth2', query, token)),
    )
    expect(responses.map(({ status }) => status).sort()).toEqual([303, ...Array(49).fill(400)])
    expect(exchanges(provider)).toHaveLength(1)
    expect(harness.signedIn).toHaveLength(1)
  })
})

forEngine('sqlite', (engine) => {
  const setUp = async (
    over: Parameters<typeof plainConfig>[1] = {},
    options: Partial<SignInHarnessOptions> = {},
  ) => {
    const provider = await startProvider()
    const configs = [plainConfig(provider.origin, over)]
    const harness = createSignInHarness({ store: await engine.open(), configs, ...options })
    return { provider, harness }
  }

  describe('a callback', () => {
    test('that is replayed is rejected', async () => {
      const { provider, harness } = await setUp()
      const { token } = await harness.start('oauth2')
      const query = { csrfToken: token, code: 'c' }
      expect((await harness.callback('oauth2', query, token)).status).toBe(303)
      expect((await harness.callback('oauth2', query, token)).status).toBe(400)
      expect(exchanges(provider)).toHaveLength(1)
    })

    test('that failed at the provider cannot be retried', async () => {
      const { provider, harness } = await setUp()
      provider.token = { status: 400, body: { error: 'invalid_grant' } }
      const { token } = await harness.start('oauth2')
      const query = { csrfToken: token, code: 'c' }
      expect((await harness.callback('oauth2', query, token)).status).toBe(400)
      provider.token = { body: { access_token: 't' } }
      expect((await harness.callback('oauth2', query, token)).status).toBe(400)
      expect(harness.signedIn).toEqual([])
    })

    test('is accepted for 300 seconds', async () => {
      const { harness } = await setUp()
      const [early, late] = [await harness.start('oauth2'), await harness.start('oauth2')]
      harness.clock.now += 299_999
      const answer = (token: string) =>
        harness.callback('oauth2', { csrfToken: token, code: 'c' }, token)
      expect((await answer(early.token)).status).toBe(303)
      harness.clock.now += 1
      expect((await answer(late.token)).status).toBe(400)
    })

    test('with a token and cookie that were never issued is rejected, and recorded as failed', async () => {
      const { provider, harness } = await setUp()
      const token = 'x'.repeat(32)
      const response = await harness.callback('oauth2', { csrfToken: token, code: 'c' }, token)
      expect(response.status).toBe(400)
      expect(harness.failed).toMatchObject([
        { provider: 'oauth2', failure: { code: 'bad-parameter' }, username: undefined },
      ])
      expect(provider.requests).toEqual([])
    })

    test('of a sign-in in another tab succeeds, and each returns to its own page', async () => {
      const { harness } = await setUp()
      const jar = createJar()
      const start = async (returnTo: string) => {
        const type = { 'Content-Type': 'application/x-www-form-urlencoded' }
        const body = `${new URLSearchParams({ returnTo })}`
        const started = await harness.start('oauth2', { ...jar.header(), ...type }, body)
        jar.keep(started.answer)
        return started.token
      }
      const back = async (token: string) => {
        const query = { csrfToken: token, code: 'c' }
        const response = await harness.callback('oauth2', query, jar.header().Cookie)
        jar.keep(response)
        return [response.status, response.headers.get('Location')]
      }
      const tabs = [
        await start('/_console/a'),
        await start('/_console/b'),
        await start('/_console/c'),
      ]
      expect(new Set(tabs).size).toBe(3)
      const [a = '', b = '', c = ''] = tabs
      expect(await back(b)).toEqual([303, 'http://localhost:8529/_console/b'])
      expect(await back(c)).toEqual([303, 'http://localhost:8529/_console/c'])
      expect(await back(a)).toEqual([303, 'http://localhost:8529/_console/a'])
      expect(jar.names()).toEqual(['session'])
      expect(harness.signedIn).toHaveLength(3)
      // A callback succeeds only once.
      expect((await back(a))[1]).toBe('http://localhost:8529/')
    })

    test('of the oldest tab gets 400 once more than four others have started', async () => {
      const { harness } = await setUp()
      const jar = createJar()
      const tokens: string[] = []
      for (let tab = 0; tab < OTHER_TABS + 2; tab += 1) {
        const started = await harness.start('oauth2', jar.header())
        jar.keep(started.answer)
        tokens.push(started.token)
      }
      expect(jar.names()).toHaveLength(OTHER_TABS + 1)
      const back = async (token = '') => {
        const response = await harness.callback(
          'oauth2',
          { csrfToken: token, code: 'c' },
          jar.header().Cookie,
        )
        return response.status
      }
      expect(await back(tokens[0])).toBe(400)
      // The server rejects the token even if the browser has kept its cookie.
      const query = { csrfToken: tokens[0] ?? '', code: 'c' }
      expect((await harness.callback('oauth2', query, tokens[0])).status).toBe(400)
      expect(await back(tokens[1])).toBe(303)
    })

    test('that names the token of another tab without its cookie gets 400, or the root with a session', async () => {
      const { harness } = await setUp()
      const [first, second] = [await harness.start('oauth2'), await harness.start('oauth2')]
      const query = { csrfToken: first.token, code: 'c' }
      expect((await harness.callback('oauth2', query, second.token)).status).toBe(400)
      const cookie = `oauth2_csrf_token=${second.token}; session=1`
      const stale = await harness.callback('oauth2', query, cookie)
      expect([stale.status, stale.headers.get('Location')]).toEqual([303, 'http://localhost:8529/'])
      expect(stale.headers.getSetCookie()).toEqual([])
      expect(harness.signedIn).toEqual([])
    })

    test('gets its 500 and its 400 for a code also with a session', async () => {
      const { harness } = await setUp()
      const { token } = await harness.start('oauth2')
      const cookie = `oauth2_csrf_token=${token}; session=1`
      expect((await harness.callback('oauth2', { error: 'x' }, cookie)).status).toBe(500)
      expect((await harness.callback('oauth2', { csrfToken: token }, cookie)).status).toBe(400)
    })
  })

  describe('on an encrypted connection', () => {
    const secure = async () => {
      const { harness, provider } = await setUp({}, { publicOrigin: 'https://gate.example' })
      const started = await harness.start('oauth2', { Host: 'gate.example' })
      const query = { csrfToken: started.token, code: 'c' }
      const back = async (cookie: string) =>
        (await harness.callback('oauth2', query, cookie)).status
      return { harness, provider, ...started, back }
    }

    test('the token is also in a cookie with the prefix __Host-', async () => {
      const { answer, token } = await secure()
      expect(answer.headers.getSetCookie()).toContainEqual(
        `__Host-oauth2_csrf_token_oauth2=${token}; Max-Age=300; Path=/; HttpOnly; Secure; SameSite=Lax`,
      )
    })

    test('a sign-in in another tab requires the cookie with the prefix __Host-', async () => {
      const { harness, token, provider } = await secure()
      const headers = {
        Host: 'gate.example',
        Cookie: `oauth2_csrf_token=${token}; __Host-oauth2_csrf_token_oauth2=${token}`,
      }
      const moved = (await harness.start('oauth2', headers)).answer.headers
        .getSetCookie()
        .find((each) => each.includes(`=${token};`))
      expect(moved).toMatch(/^__Host-oauth2_csrf_token_oauth2_[0-9a-f]{16}=.*; Secure/)
      const query = { csrfToken: token, code: 'c' }
      const cookie = moved?.split(';')[0] ?? ''
      const plain = cookie.replace('__Host-', '')
      expect((await harness.callback('oauth2', query, plain)).status).toBe(400)
      expect(exchanges(provider)).toEqual([])
    })

    test('a callback of another tab succeeds with that cookie', async () => {
      const { harness, token } = await secure()
      const name = `__Host-oauth2_csrf_token_oauth2_${hashOf(token).slice(0, 16)}`
      const response = await harness.callback(
        'oauth2',
        { csrfToken: token, code: 'c' },
        `${name}=${token}; oauth2_csrf_token=other; __Host-oauth2_csrf_token_oauth2=other`,
      )
      expect(response.status).toBe(303)
      const removed = response.headers.getSetCookie().filter((each) => each.includes('Max-Age=0'))
      expect(removed.map((each) => each.split('=')[0])).toEqual([name])
    })

    test('a callback with both cookies succeeds and removes both', async () => {
      const { harness, token } = await secure()
      const cookie = `oauth2_csrf_token=${token}; __Host-oauth2_csrf_token_oauth2=${token}`
      const response = await harness.callback('oauth2', { csrfToken: token, code: 'c' }, cookie)
      expect(response.status).toBe(303)
      const removed = response.headers.getSetCookie().filter((each) => each.includes('Max-Age=0'))
      expect(removed.map((each) => each.split('=')[0]).sort()).toEqual([
        '__Host-oauth2_csrf_token_oauth2',
        'oauth2_csrf_token',
      ])
    })

    test.each([
      ['none', ''],
      ['another value', '; __Host-oauth2_csrf_token_oauth2=other'],
      ['that of another provider', '; __Host-oauth2_csrf_token_github=TOKEN'],
    ])('a callback whose second cookie is %s is rejected', async (_, second) => {
      const { token, back, provider } = await secure()
      expect(await back(`oauth2_csrf_token=${token}${second.replace('TOKEN', token)}`)).toBe(400)
      expect(exchanges(provider)).toEqual([])
    })
  })

  test('HEAD on the callback does nothing', async () => {
    const { provider, harness } = await setUp()
    const { token } = await harness.start('oauth2')
    const query = new URLSearchParams({ csrfToken: token, code: 'c' })
    const headers = { Cookie: `oauth2_csrf_token=${token}` }
    const head = await harness.request('HEAD', `/_oauth2/oauth2/auth?${query}`, headers)
    expect([head.status, head.headers.getSetCookie()]).toEqual([200, []])
    expect(provider.requests).toEqual([])
    expect((await harness.callback('oauth2', `${query}`, token)).status).toBe(303)
  })

  test("the provider's error description is shown only for a sign-in of this browser", async () => {
    const { harness } = await setUp()
    const { token } = await harness.start('oauth2')
    const query = { error: 'access_denied', error_description: 'Call 555 now', csrfToken: token }
    const ownResponse = await harness.callback('oauth2', query, token)
    expect([ownResponse.status, await ownResponse.text()]).toEqual([
      500,
      expect.stringContaining('Call 555'),
    ])
    for (const cookie of [undefined, 'another', '']) {
      const response = await harness.callback(
        'oauth2',
        query,
        cookie && `oauth2_csrf_token=${cookie}`,
      )
      const text = await response.text()
      expect(response.status).toBe(500)
      expect(text).toContain('access_denied')
      expect(text).not.toContain('555')
    }
  })

  describe('the forms of the callback', () => {
    const CALLBACK = 'http://localhost:8529/_oauth2/oauth2/auth'
    test.each([
      ['csrf-in-url', (t: string) => `${CALLBACK}?csrfToken=${t}`, () => CALLBACK],
      [
        'csrf-in-url-identical',
        (t: string) => `${CALLBACK}?csrfToken=${t}`,
        (t: string) => `${CALLBACK}?csrfToken=${t}`,
      ],
      ['exact', () => CALLBACK, () => CALLBACK],
    ] as const)('%s', async (form, redirect, exchange) => {
      const { provider, harness } = await setUp({ form })
      const { token, sent } = await harness.start('oauth2')
      expect(sent.get('redirect_uri')).toBe(redirect(token))
      const back = new URL(redirect(token))
      back.searchParams.set('state', token)
      back.searchParams.set('code', 'c')
      const response = await harness.callback('oauth2', back.search.slice(1), token)
      expect(response.status).toBe(303)
      expect(exchanges(provider)[0]?.form.get('redirect_uri')).toBe(exchange(token))
    })

    test('exact accepts the token only in state', async () => {
      const { harness } = await setUp({ form: 'exact' })
      const { token } = await harness.start('oauth2')
      const query = { csrfToken: token, code: 'c' }
      expect((await harness.callback('oauth2', query, token)).status).toBe(400)
    })
  })

  describe('responses of providers', () => {
    const complete = async (token: PlainProvider['token'], user?: PlainProvider['user']) => {
      const { provider, harness } = await setUp({ form: 'exact' })
      provider.token = token
      if (user !== undefined) provider.user = user
      const started = await harness.start('oauth2')
      const response = await harness.callback(
        'oauth2',
        { state: started.token, code: 'c' },
        started.token,
      )
      return { answer: response, harness, text: await response.text() }
    }

    test('may be form-encoded', async () => {
      const { harness } = await complete({
        type: 'application/x-www-form-urlencoded',
        body: 'access_token=gho_1&scope=user&token_type=bearer',
      })
      expect(harness.signedIn).toMatchObject([{ subject: '583231', accessToken: 'gho_1' }])
    })

    test('may report an error with status 200, which becomes 400', async () => {
      const { answer, harness, text } = await complete({ body: { error: 'bad_verification_code' } })
      expect(answer.status).toBe(400)
      expect(text).toContain('bad_verification_code')
      expect(harness.signedIn).toEqual([])
    })

    test.each([
      [
        'a rejected client registration',
        { status: 401, body: { error: 'invalid_client' } },
        'client id',
      ],
      ['an HTML page', { type: 'text/html', body: '<b>busy</b>' }, 'returned an invalid response'],
      ['status 502', { status: 502, body: '' }, 'returned an invalid response'],
      ['no token', { body: { token_type: 'bearer' } }, 'returned an invalid response'],
    ])('%s: 503 with a readable page', async (_, token, says) => {
      const { answer, harness, text } = await complete(token)
      expect(answer.status).toBe(503)
      expect(text).toContain(says)
      expect(harness.signedIn).toEqual([])
    })

    test('may be missing: 503', async () => {
      const { provider, harness } = await setUp()
      const { token } = await harness.start('oauth2')
      provider.close()
      expect(
        (await harness.callback('oauth2', { csrfToken: token, code: 'c' }, token)).status,
      ).toBe(503)
    })

    test.each([
      ['empty', ''],
      ['too long', 'a'.repeat(256)],
      ['with a control character', 'a\u0007'],
      ['with a lone surrogate', 'a\ud800'],
      ['beyond ASCII', 'é'],
      ['missing', undefined],
    ])('an id that is %s is rejected', async (_, id) => {
      const user = { body: { id, sub: id } }
      const { answer, harness } = await complete({ body: { access_token: 't' } }, user)
      expect(answer.status).toBe(503)
      expect(harness.signedIn).toEqual([])
    })

    test('appear in pages and in the log without secrets', async () => {
      const { answer, harness, text } = await complete({
        status: 400,
        body: { error: 'invalid_grant', error_description: 'canary-secret app-id' },
      })
      expect(answer.status).toBe(400)
      for (const said of [text, harness.lines.join()]) {
        expect(said).not.toContain('canary-secret')
      }
      expect(harness.lines.join()).toContain('invalid_grant')
    })
  })

  describe('mix-up of providers', () => {
    const two = async () => {
      const [a, b] = [await startProvider(), await startProvider()]
      const configs: ProviderConfig[] = [
        plainConfig(a.origin, { name: 'github', form: 'exact' }),
        plainConfig(b.origin, { name: 'oauth2', form: 'exact' }),
      ]
      return { a, b, harness: createSignInHarness({ store: await engine.open(), configs }) }
    }

    test("a sign-in at A is rejected at the callback of B, and continues at A's", async () => {
      const { a, b, harness } = await two()
      const { token } = await harness.start('github')
      const query = { state: token, code: 'of-b' }
      expect((await harness.callback('oauth2', query, token)).status).toBe(400)
      expect([...a.requests, ...b.requests]).toEqual([])
      expect((await harness.callback('github', query, token)).status).toBe(303)
    })

    test('a response of B at the callback of A is rejected: 400, without a token request', async () => {
      const { a, b, harness } = await two()
      for (const iss of [b.origin, 'https://evil.example', 'nonsense', '']) {
        const { token } = await harness.start('github')
        const query = { state: token, code: 'of-b', iss }
        expect((await harness.callback('github', query, token)).status).toBe(400)
      }
      expect([...a.requests, ...b.requests]).toEqual([])
      const { token } = await harness.start('github')
      const query = { state: token, code: 'of-a', iss: `${a.origin}/tenant` }
      expect((await harness.callback('github', query, token)).status).toBe(303)
    })
  })

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
      const { harness } = await setUp()
      const { answer } = await harness.start('oauth2', headers as Record<string, string>)
      expect(answer.status).toBe(status)
      if (status === 403) expect(answer.headers.getSetCookie()).toEqual([])
    })

    test('stores the page to return to, on this origin only', async () => {
      const { harness } = await setUp()
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
        const { harness } = await setUp()
        const { answer } = await harness.start('oauth2', { Host: host })
        expect(answer.status).toBe(400)
        expect(await answer.text()).toContain('--public-url')
        expect(answer.headers.getSetCookie()).toEqual([])
      },
    )

    test('uses the public URL with any Host and any proxy', async () => {
      const { harness } = await setUp({}, { publicOrigin: 'https://gate.example' })
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
      const { harness } = await setUp({}, { publicOrigin: 'https://gate.example' })
      const { sent } = await harness.start('oauth2', { Origin: 'http://localhost:8529' })
      expect(sent.get('redirect_uri')).toMatch(/^http:\/\/localhost:8529\//)
    })

    test('ignores forwarded headers of an untrusted peer', async () => {
      const { harness } = await setUp()
      const headers = { 'X-Forwarded-Host': 'evil.example', 'X-Forwarded-Proto': 'https' }
      const { sent, setCookie } = await harness.start('oauth2', headers)
      expect(sent.get('redirect_uri')).toMatch(/^http:\/\/localhost:8529\//)
      expect(setCookie).not.toContain('Secure')
    })

    test('is rejected for a form beyond 16 KiB, and for an unknown provider', async () => {
      const { harness } = await setUp()
      const type = {
        'Content-Type': 'application/x-www-form-urlencoded',
        'Content-Length': '16385',
      }
      expect((await harness.start('oauth2', type, 'x'.repeat(16_385))).answer.status).toBe(413)
      expect((await harness.start('github')).answer.status).toBe(404)
      expect((await harness.callback('github', {})).status).toBe(404)
    })
  })

  describe('the page of a sign-in that failed', () => {
    test('escapes the text of the provider and truncates it to 64 characters', async () => {
      const { harness } = await setUp()
      const response = await harness.callback('oauth2', {
        error: `<script>alert(1)</script>\r\n\u202e${'a'.repeat(100)}`,
      })
      const page = await response.text()
      expect(page).not.toContain('<script')
      expect(page).toContain('&lt;script&gt;')
      expect(page).not.toMatch(/[\u202e\r]/)
      expect(page).not.toContain('a'.repeat(65))
    })

    test('explains what happened and what to do, with a button to start over', async () => {
      const { harness } = await setUp()
      const response = await harness.callback('oauth2', {})
      const page = await response.text()
      expect(response.headers.get('Content-Type')).toContain('text/html')
      expect(page).toContain('CSRF mismatch')
      expect(page).toContain('<form method="post" action="/_oauth2/oauth2/auth"><button>Sign in')
      expect(page).not.toMatch(/<script|<style|\sstyle=|\son[a-z]+=/)
    })

    test('runs no script, and its form may redirect to other hosts', async () => {
      const { harness } = await setUp()
      const { headers } = await harness.callback('oauth2', {})
      expect(headers.get('Content-Security-Policy')).toBe(
        "default-src 'none'; style-src 'self'; font-src 'self'; frame-ancestors 'none'; base-uri 'none'",
      )
      expect(headers.get('X-Content-Type-Options')).toBe('nosniff')
    })
  })

  test('random input never causes a 5xx, except 500 for an error of the provider', async () => {
    const { provider, harness } = await setUp()
    provider.token = { status: 400, body: { error: 'invalid_grant' } }
    const { token } = await harness.start('oauth2')
    for (const query of [
      '%',
      '&&&==',
      `csrfToken=${token}%00`,
      `csrfToken[]=${token}&code=c`,
      `state=${token}&code=%ff%fe`,
      `csrfToken=${token}&code=${'x'.repeat(8_000)}`,
    ]) {
      for (const cookie of [undefined, token, '%', 'a=b; ; =']) {
        expect((await harness.callback('oauth2', query, cookie)).status).toBe(400)
      }
    }
  })
})

/** Creates a cookie jar that ignores paths. */
function createJar() {
  const cookies = new Map<string, string>()
  return {
    keep(answer: Response) {
      for (const set of answer.headers.getSetCookie()) {
        const [name = '', value = ''] = (set.split(';')[0] ?? '').split('=')
        cookies.delete(name)
        if (!/; Max-Age=0(?:;|$)/.test(set)) cookies.set(name, value)
      }
    },
    names: () => [...cookies.keys()],
    header: () => ({ Cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') }),
  }
}
