import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { beginSession } from '../access/sessions.ts'
import { createVault } from '../storage/vault.ts'
import { type PlainProvider, startPlainProvider } from './providers/plain-provider.testing.ts'
import { createOpenStore } from './sign-in/open-store.testing.ts'
import {
  createSignInHarness,
  plainConfig,
  type SignInHarnessOptions,
} from './sign-in/sign-in.testing.ts'
import { challengeOf } from './sign-in/sign-in.ts'

// Tests each row of docs/sign-in.md, "The flow", with a provider that the test starts.

let provider: PlainProvider
const openStore = createOpenStore()

beforeEach(async () => {
  provider = await startPlainProvider()
})
afterEach(() => provider.close())

const rigFor = async (
  over: Parameters<typeof plainConfig>[1] = {},
  options: Partial<SignInHarnessOptions> = {},
) =>
  createSignInHarness({
    store: await openStore(),
    configs: [plainConfig(provider.origin, over)],
    ...options,
  })

const CALLBACK = 'http://localhost:8529/_oauth2/oauth2/auth'

describe('POST <mount>/auth', () => {
  test('returns 303 to the URL of the provider, with its query parameters', async () => {
    const { answer, location, sent } = await (await rigFor()).start('oauth2')
    expect(answer.status).toBe(303)
    expect(location).toMatch(`${provider.origin}/authorize?scope=user&access_type=offline&`)
    expect(sent.get('client_id')).toBe('app-id')
    expect(sent.get('response_type')).toBe('code')
    expect(answer.headers.get('Cache-Control')).toBe('no-store')
  })

  test('sets the cookie: 32 alphanumerics for 300 seconds, only for the callback', async () => {
    const { setCookie, token } = await (await rigFor()).start('oauth2')
    expect(token).toMatch(/^[A-Za-z0-9]{32}$/)
    expect(setCookie.split('; ').sort()).toEqual([
      'HttpOnly',
      'Max-Age=300',
      'Path=/_oauth2/oauth2/auth',
      'SameSite=Lax',
      `oauth2_csrf_token=${token}`,
    ])
  })

  test('marks the cookie Secure with https', async () => {
    const harness = await rigFor({}, { publicOrigin: 'https://gate.example' })
    expect((await harness.start('oauth2')).setCookie).toContain('; Secure')
  })

  test('sends the absolute URL of the callback, carrying csrfToken', async () => {
    const { sent, token } = await (await rigFor()).start('oauth2')
    expect(sent.get('redirect_uri')).toBe(`${CALLBACK}?csrfToken=${token}`)
  })

  test('sends state and a PKCE challenge in every form', async () => {
    for (const form of ['csrf-in-url', 'csrf-in-url-identical', 'exact'] as const) {
      const { sent, token } = await (await rigFor({ form })).start('oauth2')
      expect(sent.get('state')).toBe(token)
      expect(sent.get('code_challenge_method')).toBe('S256')
      expect(sent.get('code_challenge')).toMatch(/^[\w-]{43}$/)
    }
  })

  test('creates a new token each time', async () => {
    const harness = await rigFor()
    expect((await harness.start('oauth2')).token).not.toBe((await harness.start('oauth2')).token)
  })
})

describe('GET <mount>/auth, the callback', () => {
  test('returns 303 to the absolute URL of the application root, with a session', async () => {
    const harness = await rigFor()
    const { token } = await harness.start('oauth2')
    const response = await harness.callback('oauth2', { csrfToken: token, code: 'the-code' }, token)
    expect(response.status).toBe(303)
    expect(response.headers.get('Location')).toBe('http://localhost:8529/')
    expect(response.headers.get('Cache-Control')).toBe('no-store')
    expect(response.headers.getSetCookie()).toEqual([
      'session=1; Path=/; HttpOnly',
      expect.stringMatching(/^oauth2_csrf_token=; Max-Age=0; Path=\/_oauth2\/oauth2\/auth/),
    ])
  })

  test('exchanges the code by a form, with the URL without csrfToken, then requests the user', async () => {
    const harness = await rigFor()
    const { token, sent } = await harness.start('oauth2')
    await harness.callback('oauth2', { csrfToken: token, code: 'the-code' }, token)
    const [exchange, user] = provider.requests
    expect(provider.requests).toHaveLength(2)
    expect(exchange).toMatchObject({ method: 'POST', path: '/token' })
    expect(exchange?.headers['content-type']).toBe('application/x-www-form-urlencoded')
    const { code_verifier, ...form } = Object.fromEntries(exchange?.form ?? [])
    expect(form).toEqual({
      grant_type: 'authorization_code',
      code: 'the-code',
      redirect_uri: CALLBACK,
      client_id: 'app-id',
      client_secret: 'canary-secret',
    })
    expect(challengeOf(code_verifier ?? '')).toBe(sent.get('code_challenge'))
    expect(user).toMatchObject({ method: 'GET', path: '/user' })
    expect(user?.headers.authorization).toBe('Bearer first-token')
  })

  test('identifies the person by the id at this provider, as a string', async () => {
    const harness = await rigFor()
    provider.token = { body: { access_token: 't', refresh_token: 'r', expires_in: 60 } }
    const { token } = await harness.start('oauth2')
    await harness.callback('oauth2', { csrfToken: token, code: 'c' }, token)
    expect(harness.signedIn).toEqual([
      {
        provider: 'oauth2',
        issuer: `${provider.origin}/token`,
        subject: '583231',
        name: 'ada',
        accessToken: 't',
        operatorKey: null,
      },
    ])
  })

  test('creates the user, then updates the token, and stores the user in the session', async () => {
    const store = await openStore()
    const vault = createVault(new Uint8Array(32).fill(1))
    const deps = { store, vault, record: async () => {}, admins: [], now: Date.now }
    const harness = await rigFor(
      {},
      {
        store,
        beginSession: async (_, identity) => {
          const secret = await beginSession(deps, identity, { address: null, userAgent: null })
          return `session=${secret}`
        },
      },
    )
    const tokens: string[] = []
    for (const access_token of ['first-token', 'second-token']) {
      provider.token = { body: { access_token } }
      const { token } = await harness.start('oauth2')
      const response = await harness.callback('oauth2', { csrfToken: token, code: 'c' }, token)
      expect(response.status).toBe(303)
      const people = await store.db.selectFrom('people').selectAll().execute()
      expect(people).toHaveLength(1)
      expect(people[0]).toMatchObject({ username: 'oauth2:583231', subject: '583231' })
      tokens.push(people[0]?.access_token ?? '')
    }
    expect(tokens[0]).not.toBe(tokens[1])
    const sessions = await store.db
      .selectFrom('sessions')
      .innerJoin('people', 'people.id', 'sessions.person_id')
      .select(['people.username', 'sessions.access_token'])
      .execute()
    expect(sessions).toHaveLength(2)
    for (const { username, access_token } of sessions) {
      expect(username).toBe('oauth2:583231')
      expect(access_token).not.toBeNull()
    }
  })

  test.each([
    ['sub, where there is no id', { sub: 'a-sub' }, 'a-sub'],
    ['id before sub', { id: 'an-id', sub: 'a-sub' }, 'an-id'],
  ])('identifies by %s', async (_, body, subject) => {
    const harness = await rigFor()
    provider.user = { body }
    const { token } = await harness.start('oauth2')
    await harness.callback('oauth2', { csrfToken: token, code: 'c' }, token)
    expect(harness.signedIn).toMatchObject([{ subject }])
  })

  test.each([
    {},
    { id: '' },
    { id: null },
    { id: { a: 1 } },
    { id: 1.5 },
    { email: 'a@b.example' },
  ])('rejects a user without an id: %j', async (body) => {
    const harness = await rigFor()
    provider.user = { body }
    const { token } = await harness.start('oauth2')
    const response = await harness.callback('oauth2', { csrfToken: token, code: 'c' }, token)
    expect(response.status).toBe(503)
    expect(harness.signedIn).toEqual([])
  })

  test('the order of checks: error 500, then the cookie 400, then the code 400', async () => {
    const harness = await rigFor()
    const { token } = await harness.start('oauth2')
    const other = 'x'.repeat(32)
    for (const [query, cookie, status, says] of [
      [{ error: 'access_denied' }, undefined, 500, 'access_denied'],
      [{ error: 'access_denied', csrfToken: token, code: 'c' }, token, 500, 'access_denied'],
      [{}, undefined, 400, 'CSRF mismatch'],
      [{ csrfToken: token, code: 'c' }, undefined, 400, 'CSRF mismatch'],
      [{ csrfToken: token, code: 'c' }, other, 400, 'CSRF mismatch'],
      [{ csrfToken: other, code: 'c' }, token, 400, 'CSRF mismatch'],
      [{ code: 'c' }, token, 400, 'CSRF mismatch'],
      [{ csrfToken: '' }, 'oauth2_csrf_token=', 400, 'CSRF mismatch'],
      [{ csrfToken: token, code: 'c', state: other }, token, 400, 'CSRF mismatch'],
      [{ csrfToken: token }, token, 400, 'returned no authorization code'],
      [{ csrfToken: token, code: '' }, token, 400, 'returned no authorization code'],
    ] as const) {
      const response = await harness.callback('oauth2', query as Record<string, string>, cookie)
      expect([query, response.status]).toEqual([query, status])
      expect(await response.text()).toContain(says)
      expect(response.headers.get('Cache-Control')).toBe('no-store')
    }
    expect(provider.requests).toEqual([])
    // The rejected callbacks have not used up the sign-in.
    const response = await harness.callback(
      'oauth2',
      { csrfToken: token, code: 'c', state: token },
      token,
    )
    expect(response.status).toBe(303)
  })

  test.each(['csrfToken', 'code', 'state', 'iss'])('rejects a duplicate %s', async (name) => {
    const harness = await rigFor()
    const { token } = await harness.start('oauth2')
    const query = `csrfToken=${token}&code=c&state=${token}&iss=${provider.origin}`
    const value = new URLSearchParams(query).get(name) ?? ''
    const response = await harness.callback(
      'oauth2',
      `${query}&${name}=${encodeURIComponent(value)}`,
      token,
    )
    expect(response.status).toBe(400)
    expect(await response.text()).toContain('twice')
    expect(provider.requests).toEqual([])
    expect((await harness.callback('oauth2', query, token)).status).toBe(303)
  })

  test.each([
    ['the token endpoint', 'token'],
    ['the user endpoint', 'user'],
  ] as const)('rejects an empty body of %s', async (_, which) => {
    const harness = await rigFor()
    provider[which] = { body: '' }
    const { token } = await harness.start('oauth2')
    const response = await harness.callback('oauth2', { csrfToken: token, code: 'c' }, token)
    expect(response.status).toBe(503)
    expect(harness.signedIn).toEqual([])
  })
})
