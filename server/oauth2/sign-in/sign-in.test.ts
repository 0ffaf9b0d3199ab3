import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { OTHER_TABS } from '../../http/guards/sign-in-cookies.ts'
import { forEngine } from '../../storage/test-support/each-engine.testing.ts'
import type { ProviderConfig } from '../providers/provider-config.ts'
import {
  createSignInHarness,
  openSignIn,
  plainConfig,
  startProvider,
  tokenRequests,
} from './sign-in.testing.ts'
import { challengeOf, returnPath } from './sign-in.ts'

// Tests the defenses of the callback. sign-in-flow.test.ts tests the flow.

forEngine('sqlite', (engine) => {
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
    expect(tokenRequests(provider)).toHaveLength(1)
    expect(harness.signedIn).toHaveLength(1)
  })
})

forEngine('sqlite', (engine) => {
  describe('a callback', () => {
    test('that is replayed is rejected', async () => {
      const { provider, harness } = await openSignIn(engine)
      const { token } = await harness.start('oauth2')
      const query = { csrfToken: token, code: 'c' }
      expect((await harness.callback('oauth2', query, token)).status).toBe(303)
      expect((await harness.callback('oauth2', query, token)).status).toBe(400)
      expect(tokenRequests(provider)).toHaveLength(1)
    })

    test('that failed at the provider cannot be retried', async () => {
      const { provider, harness } = await openSignIn(engine)
      provider.token = { status: 400, body: { error: 'invalid_grant' } }
      const { token } = await harness.start('oauth2')
      const query = { csrfToken: token, code: 'c' }
      expect((await harness.callback('oauth2', query, token)).status).toBe(400)
      provider.token = { body: { access_token: 't' } }
      expect((await harness.callback('oauth2', query, token)).status).toBe(400)
      expect(harness.signedIn).toEqual([])
    })

    test('is accepted for 300 seconds', async () => {
      const { harness } = await openSignIn(engine)
      const [early, late] = [await harness.start('oauth2'), await harness.start('oauth2')]
      harness.clock.now += 299_999
      const answer = (token: string) =>
        harness.callback('oauth2', { csrfToken: token, code: 'c' }, token)
      expect((await answer(early.token)).status).toBe(303)
      harness.clock.now += 1
      expect((await answer(late.token)).status).toBe(400)
    })

    test('with a token and cookie that were never issued is rejected, and recorded as failed', async () => {
      const { provider, harness } = await openSignIn(engine)
      const token = 'x'.repeat(32)
      const response = await harness.callback('oauth2', { csrfToken: token, code: 'c' }, token)
      expect(response.status).toBe(400)
      expect(harness.failed).toMatchObject([
        { provider: 'oauth2', failure: { code: 'bad-parameter' }, username: undefined },
      ])
      expect(provider.requests).toEqual([])
    })

    test('of a sign-in in another tab succeeds, and each returns to its own page', async () => {
      const { harness } = await openSignIn(engine)
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
      const { harness } = await openSignIn(engine)
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
      const { harness } = await openSignIn(engine)
      const [first, second] = [await harness.start('oauth2'), await harness.start('oauth2')]
      const query = { csrfToken: first.token, code: 'c' }
      expect((await harness.callback('oauth2', query, second.token)).status).toBe(400)
      const cookie = `oauth2_csrf_token=${second.token}; session=1`
      const stale = await harness.callback('oauth2', query, cookie)
      expect([stale.status, stale.headers.get('Location')]).toEqual([303, 'http://localhost:8529/'])
      expect(stale.headers.getSetCookie()).toEqual([])
      expect(harness.signedIn).toEqual([])
    })

    test('gets 500 for a provider error and 400 without a code, even with a session', async () => {
      const { harness } = await openSignIn(engine)
      const { token } = await harness.start('oauth2')
      const cookie = `oauth2_csrf_token=${token}; session=1`
      expect((await harness.callback('oauth2', { error: 'x' }, cookie)).status).toBe(500)
      expect((await harness.callback('oauth2', { csrfToken: token }, cookie)).status).toBe(400)
    })
  })

  test('HEAD on the callback does nothing', async () => {
    const { provider, harness } = await openSignIn(engine)
    const { token } = await harness.start('oauth2')
    const query = new URLSearchParams({ csrfToken: token, code: 'c' })
    const headers = { Cookie: `oauth2_csrf_token=${token}` }
    const head = await harness.request('HEAD', `/_oauth2/oauth2/auth?${query}`, headers)
    expect([head.status, head.headers.getSetCookie()]).toEqual([200, []])
    expect(provider.requests).toEqual([])
    expect((await harness.callback('oauth2', `${query}`, token)).status).toBe(303)
  })

  test("the provider's error description is shown only for a sign-in of this browser", async () => {
    const { harness } = await openSignIn(engine)
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
      const { provider, harness } = await openSignIn(engine, { form })
      const { token, sent } = await harness.start('oauth2')
      expect(sent.get('redirect_uri')).toBe(redirect(token))
      const back = new URL(redirect(token))
      back.searchParams.set('state', token)
      back.searchParams.set('code', 'c')
      const response = await harness.callback('oauth2', back.search.slice(1), token)
      expect(response.status).toBe(303)
      expect(tokenRequests(provider)[0]?.form.get('redirect_uri')).toBe(exchange(token))
    })

    test('exact accepts the token only in state', async () => {
      const { harness } = await openSignIn(engine, { form: 'exact' })
      const { token } = await harness.start('oauth2')
      const query = { csrfToken: token, code: 'c' }
      expect((await harness.callback('oauth2', query, token)).status).toBe(400)
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

  test('random input never causes a 5xx, except 500 for an error of the provider', async () => {
    const { provider, harness } = await openSignIn(engine)
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

test('the challenge is the one of RFC 7636, appendix B', () => {
  expect(challengeOf('dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk')).toBe(
    'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  )
})

describe('returnPath', () => {
  test.each([
    ['/', '/'],
    ['/_console/endpoints?filter=a#b', '/_console/endpoints?filter=a#b'],
    ['/a/../b', '/b'],
    ['/%2f%2fevil.example', '/%2f%2fevil.example'],
    ['/@evil.example', '/@evil.example'],
    ['/a\\b', '/a/b'],
    ['/\u2028/evil.example', '/%E2%80%A8/evil.example'],
  ])('%j leads to %j', (text, path) => {
    expect(returnPath(text)).toBe(path)
  })

  test.each([
    undefined,
    '',
    'https://evil.example/',
    '//evil.example',
    '///evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    '\\/evil.example',
    'http://gatehouse.invalid/evil',
    '/\t/evil.example',
    '/\n/evil.example',
    '\t//evil.example',
    ' //evil.example',
    '/a\\..\\..\\/evil.example',
    '/.//evil.example',
    '/..//evil.example',
    '/a/..//evil.example',
    '/%2e//evil.example',
    'javascript:alert(1)',
    'data:text/html,x',
    'evil.example',
    '@evil.example',
    `/${'a'.repeat(2_048)}`,
  ])('%j leads to the root', (text) => {
    expect(returnPath(text)).toBe('/')
  })

  const piece = fc.constantFrom(
    '/',
    '\\',
    '.',
    '..',
    '@',
    ':',
    '?',
    '#',
    '%2f',
    '%5c',
    '%2e',
    '%09',
    '\t',
    '\r',
    '\n',
    '\0',
    ' ',
    'http:',
    'https://',
    'javascript:',
    'evil.example',
    '[::1]',
    'é',
    '\u2028',
    '／',
  )
  const text = fc.oneof(
    fc.array(piece, { maxLength: 8 }).map((parts) => parts.join('')),
    fc.array(piece, { maxLength: 8 }).map((parts) => `/${parts.join('')}`),
    fc.string({ unit: 'binary' }),
    fc.webUrl(),
  )
  test('never changes the origin, for any path or absolute URL', () => {
    fc.assert(
      fc.property(text, (given) => {
        const path = returnPath(given)
        for (const origin of ['https://gate.example.org', 'http://127.0.0.1:8529']) {
          expect(new URL(path, origin).origin).toBe(origin)
          expect(new URL(origin + path).origin).toBe(origin)
        }
        expect(returnPath(path)).toBe(path)
      }),
      { numRuns: 1_000 },
    )
  })
})
