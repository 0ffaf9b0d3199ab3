import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { forEngine } from '../../storage/test-support/each-engine.testing.ts'
import { createSignInHarness } from '../sign-in/sign-in.testing.ts'
import type { GroupRoles } from './group-roles.ts'
import { startTestProvider } from './provider.testing.ts'
import type { ProviderConfig } from './provider-config.ts'

const SECRET = 'a: canary+secret with%41&=~/"'
const CALLBACK = 'http://localhost:8529/_oauth2/oidc/auth'

const groups: GroupRoles = {
  claim: 'groups',
  roles: new Map([
    ['ops', 'operator'],
    ['team', 'editor'],
  ]),
}

const config = (issuer: string, groups?: GroupRoles): ProviderConfig => ({
  kind: 'issuer',
  groups,
  name: 'oidc',
  label: 'Work',
  form: 'exact',
  issuer,
  clientId: 'app-id',
  clientSecret: SECRET,
})

describe('at oidc-provider, which requires PKCE and compares the redirect URI', () => {
  const startIt = async (method: string, options?: Parameters<typeof startTestProvider>[1]) => {
    const client = {
      client_id: 'app-id',
      client_secret: SECRET,
      redirect_uris: [CALLBACK],
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: method as 'client_secret_basic',
    }
    const provider = await startTestProvider([client], options)
    onTestFinished(() => provider.close())
    return provider
  }

  forEngine('sqlite', (engine) => {
    test.each(['client_secret_basic', 'client_secret_post'])(
      'signs in by discovery, with %s',
      async (method) => {
        const provider = await startIt(method)
        const harness = createSignInHarness({
          store: await engine.open(),
          configs: [config(provider.issuer)],
        })
        for (const time of [1, 2]) {
          const { location, token, sent } = await harness.start('oidc')
          expect(sent.get('redirect_uri')).toBe(CALLBACK)
          expect(sent.get('nonce')).toMatch(/^[\w-]{43}$/)
          const back = await provider.authorize(location)
          expect(back.origin + back.pathname).toBe(CALLBACK)
          expect(back.searchParams.get('iss')).toBe(provider.issuer)
          const response = await harness.callback('oidc', back.search.slice(1), token)
          expect(response.status).toBe(303)
          expect(harness.signedIn).toHaveLength(time)
        }
        expect(harness.signedIn[0]).toMatchObject({
          provider: 'oidc',
          issuer: provider.issuer,
          subject: 'ada',
          operatorKey: null,
        })
        const requested = (path: string) => provider.requests.filter((each) => each === path).length
        expect(requested('/token')).toBe(2)
        expect(requested('/.well-known/openid-configuration')).toBe(1)
      },
    )
  })

  forEngine('sqlite', (engine) => {
    test('a response of another issuer, or of none, is rejected before any request', async () => {
      const provider = await startIt('client_secret_basic')
      const harness = createSignInHarness({
        store: await engine.open(),
        configs: [config(provider.issuer)],
      })
      for (const iss of ['https://evil.example', `${provider.issuer}/`, undefined]) {
        const { location, token } = await harness.start('oidc')
        const back = await provider.authorize(location)
        if (iss === undefined) back.searchParams.delete('iss')
        else back.searchParams.set('iss', iss)
        const response = await harness.callback('oidc', back.search.slice(1), token)
        expect(response.status).toBe(400)
        expect(await response.text()).toContain('does not come from Work')
      }
      expect(provider.requests).not.toContain('/token')
    })

    test.each([
      ['the ID token', true],
      ['the user endpoint', false],
    ])('groups of the scope with their name are read from %s', async (_, inIdToken) => {
      const names = ['team', 'ops', 'others']
      const provider = await startIt('client_secret_basic', { groups: { names, inIdToken } })
      const harness = createSignInHarness({
        store: await engine.open(),
        configs: [config(provider.issuer, groups)],
      })
      const { location, token, sent } = await harness.start('oidc')
      expect(sent.get('scope')).toBe('openid profile groups')
      const back = await provider.authorize(location)
      expect((await harness.callback('oidc', back.search.slice(1), token)).status).toBe(303)
      expect(harness.signedIn).toMatchObject([{ subject: 'ada', groupRole: 'operator' }])
    })

    test('the code of another browser is rejected, because its verifier differs', async () => {
      const provider = await startIt('client_secret_basic')
      const harness = createSignInHarness({
        store: await engine.open(),
        configs: [config(provider.issuer)],
      })
      const [mine, theirs] = [await harness.start('oidc'), await harness.start('oidc')]
      const back = await provider.authorize(theirs.location)
      back.searchParams.set('state', mine.token)
      const response = await harness.callback('oidc', back.search.slice(1), mine.token)
      expect(response.status).toBe(400)
      expect(await response.text()).toContain('invalid_grant')
    })
  })
})

interface Forged {
  readonly claims?: Readonly<Record<string, unknown>>
  readonly header?: Readonly<Record<string, unknown>>
  readonly key?: KeyObject
  readonly without?: 'id_token' | 'signature'
  readonly metadata?: Readonly<Record<string, unknown>>
  readonly keys?: 'away'
  /** Response to Basic authentication. If set, only a client secret in the form is accepted. */
  readonly post?: { readonly status: number; readonly error?: string; readonly challenge?: string }
  /** Returns metadata that names the user endpoint. */
  readonly userinfo?: (issuer: string) => Readonly<Record<string, string>>
  /** Path of the issuer. The discovery document is served only below it. */
  readonly path?: string
  /** Changes the fields of the token response. */
  readonly token?: Readonly<Record<string, unknown>>
  /** Sends the token response form-encoded. */
  readonly isForm?: boolean
  /** Redirects discovery: to a trailing slash, or to another origin. */
  readonly redirect?: 'slash' | 'origin'
  /** Id of the published key. The test may change it. */
  kid?: string
  /** Response of the user endpoint. */
  readonly user?: { readonly status: number; readonly body: string }
}

describe('the ID token', () => {
  const right = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const wrong = generateKeyPairSync('rsa', { modulusLength: 2048 })

  /** Starts an issuer whose responses the test forges. */
  async function startIssuer(forged: Forged) {
    let down = false
    let nonce = ''
    let tokenRequests = 0
    let keyRequests = 0
    const authorizations: (string | undefined)[] = []
    const server = createServer((request, response) => {
      const { pathname } = new URL(request.url ?? '/', issuer)
      const json = (value: unknown, status = down ? 503 : 200) =>
        response
          .writeHead(status, { 'Content-Type': 'application/json' })
          .end(JSON.stringify(value))
      if (pathname === '/user' && forged.user) {
        response.writeHead(forged.user.status, { 'Content-Type': 'application/json' })
        return response.end(forged.user.body)
      }
      if (pathname === '/jwks') {
        if (forged.keys === 'away') return json({}, 500)
        const { n, e } = right.publicKey.export({ format: 'jwk' })
        keyRequests++
        const kid = forged.kid ?? 'k'
        return json({ keys: [{ kty: 'RSA', n, e, kid, use: 'sig', alg: 'RS256' }] })
      }
      if (pathname === '/token') {
        tokenRequests++
        authorizations.push(request.headers.authorization)
        if (forged.post && request.headers.authorization !== undefined) {
          const { status, error, challenge } = forged.post
          if (challenge !== undefined) response.setHeader('WWW-Authenticate', challenge)
          const error_description = request.headers.authorization
          return json(error === undefined ? {} : { error, error_description }, status)
        }
        const now = Math.floor(Date.now() / 1000)
        const claims = {
          iss: issuer,
          aud: 'app-id',
          sub: 'ada',
          name: 'Ada',
          nonce,
          iat: now,
          exp: now + 60,
          ...forged.claims,
        }
        const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
        const text = `${part({ alg: 'RS256', kid: forged.kid ?? 'k', ...forged.header })}.${part(claims)}`
        const signature =
          forged.without === 'signature'
            ? ''
            : sign('sha256', Buffer.from(text), forged.key ?? right.privateKey).toString(
                'base64url',
              )
        const id_token = forged.without === 'id_token' ? undefined : `${text}.${signature}`
        const fields = { access_token: 't', token_type: 'Bearer', id_token, ...forged.token }
        if (!forged.isForm) return json(fields)
        return response.end(`${new URLSearchParams(JSON.parse(JSON.stringify(fields)))}`)
      }
      const document = '/.well-known/openid-configuration'
      if (forged.redirect !== undefined && pathname === document) {
        const origin = forged.redirect === 'slash' ? '' : issuer.replace('127.0.0.1', 'localhost')
        return response.writeHead(301, { Location: `${origin}${document}/` }).end()
      }
      const path = forged.path ?? '/'
      if (pathname.replace(/\/$/, '') !== `${path}.well-known/openid-configuration`)
        return json({}, 404)
      return json({
        issuer: path === '/' ? issuer : issuer + path,
        ...forged.userinfo?.(issuer),
        authorization_endpoint: `${issuer}/auth`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/jwks`,
        ...forged.metadata,
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    return {
      issuer,
      tokenRequests: () => tokenRequests,
      keyRequests: () => keyRequests,
      /** Authorization headers of the token requests. */
      authorizations,
      isDown(value: boolean) {
        down = value
      },
      give(value: string) {
        nonce = value
      },
    }
  }

  forEngine('sqlite', (engine) => {
    const signIn = async (forged: Forged, groups?: GroupRoles) => {
      const issuer = await startIssuer(forged)
      const harness = createSignInHarness({
        store: await engine.open(),
        configs: [config(issuer.issuer, groups)],
      })
      const { token, sent, answer: started } = await harness.start('oidc')
      if (started.status !== 303) return { answer: started, harness, issuer }
      issuer.give(sent.get('nonce') ?? '')
      const answer = await harness.callback('oidc', { state: token, code: 'c' }, token)
      return { answer, harness, issuer }
    }

    test('is accepted if it is valid, and names the person', async () => {
      const { answer, harness } = await signIn({})
      expect(answer.status).toBe(303)
      expect(harness.signedIn).toMatchObject([{ subject: 'ada', name: 'Ada' }])
    })

    test.each([
      ['invalid_client', { status: 401, error: 'invalid_client' }],
      ['unauthorized_client', { status: 400, error: 'unauthorized_client' }],
      ['a challenge', { status: 401, challenge: 'Basic realm="x"' }],
    ])(
      'the client secret is sent in the form after %s, also in later sign-ins',
      async (_, post) => {
        const issuer = await startIssuer({
          post,
          metadata: {
            token_endpoint_auth_methods_supported: ['client_secret_post', 'client_secret_basic'],
          },
        })
        const harness = createSignInHarness({
          store: await engine.open(),
          configs: [config(issuer.issuer)],
        })
        for (const requests of [2, 3]) {
          const { token, sent } = await harness.start('oidc')
          issuer.give(sent.get('nonce') ?? '')
          const response = await harness.callback('oidc', { state: token, code: 'c' }, token)
          expect(response.status).toBe(303)
          expect(issuer.tokenRequests()).toBe(requests)
        }
      },
    )

    test('a method that the provider no longer accepts is replaced by another one', async () => {
      const methods = ['client_secret_basic', 'client_secret_post']
      const forged: { post?: Forged['post']; metadata: Forged['metadata'] } = {
        metadata: { token_endpoint_auth_methods_supported: methods },
      }
      const issuer = await startIssuer(forged)
      const harness = createSignInHarness({
        store: await engine.open(),
        configs: [config(issuer.issuer)],
      })
      for (const requests of [1, 3, 4]) {
        const { token, sent } = await harness.start('oidc')
        issuer.give(sent.get('nonce') ?? '')
        const response = await harness.callback('oidc', { state: token, code: 'c' }, token)
        expect([response.status, issuer.tokenRequests()]).toEqual([303, requests])
        forged.post = { status: 401, error: 'invalid_client' }
      }
    })

    test('Basic credentials are not encoded beyond the form encoding', async () => {
      const issuer = await startIssuer({})
      const given = { ...config(issuer.issuer), clientId: 'app-id_1.x', clientSecret: 'a-b_c.d' }
      const harness = createSignInHarness({ store: await engine.open(), configs: [given] })
      const { token } = await harness.start('oidc')
      await harness.callback('oidc', { state: token, code: 'c' }, token)
      expect(issuer.authorizations).toEqual([`Basic ${btoa('app-id_1.x:a-b_c.d')}`])
    })

    test('credentials that the provider repeats are not logged', async () => {
      const { answer, harness, issuer } = await signIn({
        post: { status: 401, error: 'invalid_client' },
        metadata: { token_endpoint_auth_methods_supported: ['client_secret_basic'] },
      })
      expect(answer.status).toBe(503)
      const [credentials = ''] = issuer.authorizations
      expect(credentials).toMatch(/^Basic ./)
      expect(harness.lines.join()).toContain('invalid_client')
      expect(harness.lines.join()).not.toContain(credentials.slice('Basic '.length))
    })

    test('a 401 with a challenge is reported as an invalid registration', async () => {
      const { answer } = await signIn({
        post: { status: 401, challenge: 'Basic realm="x"' },
        metadata: { token_endpoint_auth_methods_supported: ['client_secret_basic'] },
      })
      expect(answer.status).toBe(503)
      expect(await answer.text()).toContain('check the client id and secret')
    })

    test.each([
      ['403', { status: 403, body: '{"error":"forbidden"}' }],
      ['what is not JSON', { status: 200, body: '<b>busy</b>' }],
      ['a name of another person', { status: 200, body: '{"sub":"eve","name":"Eve"}' }],
    ])('a user endpoint that returns %s leaves the name unknown', async (_, user) => {
      const userinfo = (issuer: string) => ({ userinfo_endpoint: `${issuer}/user` })
      const { answer, harness } = await signIn({ user, claims: { name: undefined }, userinfo })
      expect(answer.status).toBe(303)
      expect(harness.signedIn).toMatchObject([{ subject: 'ada', name: null }])
    })

    const userinfo = (issuer: string) => ({ userinfo_endpoint: `${issuer}/user` })
    const user = (value: object) => ({ status: 200, body: JSON.stringify(value) })
    test.each<[string, string, Forged]>([
      ['operator', 'the ID token', { claims: { groups: ['team', 'ops'] } }],
      ['operator', 'one name', { claims: { groups: 'ops' } }],
      ['editor', 'the user endpoint', { userinfo, user: user({ sub: 'ada', groups: ['team'] }) }],
      [
        'pending',
        'the ID token rather than the user endpoint',
        { claims: { groups: 1 }, userinfo, user: user({ sub: 'ada', groups: ['ops'] }) },
      ],
      ['pending', 'no claim and no user endpoint', {}],
    ])('groups assign the role %s by %s', async (groupRole, _, forged) => {
      const { answer, harness } = await signIn(forged, groups)
      expect(answer.status).toBe(303)
      expect(harness.signedIn).toMatchObject([{ subject: 'ada', groupRole }])
    })

    test.each([
      ['belong to another person', user({ sub: 'eve', groups: ['ops'] })],
      ['cannot be read', { status: 403, body: '{"error":"forbidden"}' }],
    ])('groups of the user endpoint that %s end the sign-in', async (_, user) => {
      const { answer, harness } = await signIn({ userinfo, user }, groups)
      expect([answer.status, harness.signedIn]).toEqual([503, []])
      expect(await answer.text()).toContain('/user')
    })

    test('without the setting, groups assign no role', async () => {
      const { harness } = await signIn({ claims: { groups: ['ops'] } })
      expect(harness.signedIn[0]).not.toHaveProperty('groupRole')
    })

    test('an issuer with a trailing slash that the configuration lacks is accepted', async () => {
      const issuer = await startIssuer({ path: '/o/' })
      const given = config(`${issuer.issuer}/o`)
      const harness = createSignInHarness({ store: await engine.open(), configs: [given] })
      expect((await harness.start('oidc')).answer.status).toBe(303)
    })

    test.each<[string, Forged]>([
      ['a list of scopes', { token: { scope: ['openid', 'profile'] } }],
      ['no refresh token: null', { token: { refresh_token: null, scope: null, id: null } }],
      ['a lifetime of null', { token: { expires_in: null } }],
      ['a lifetime as a string', { token: { expires_in: '3600' } }],
      ['no type of the token', { token: { token_type: undefined } }],
      ['a form', { isForm: true, token: { expires_in: 3600 } }],
    ])('is accepted in a token response with %s', async (_, forged) => {
      const { answer, harness } = await signIn(forged)
      expect(answer.status).toBe(303)
      expect(harness.signedIn).toMatchObject([{ subject: 'ada', accessToken: 't' }])
    })

    test.each([
      ['slash', 303],
      ['origin', 503],
    ] as const)(
      'of an issuer whose discovery redirects to another %s: %i',
      async (redirect, status) => {
        expect((await signIn({ redirect })).answer.status).toBe(status)
      },
    )

    test('signed with a key that the provider has just rotated is accepted', async () => {
      const forged: Forged = {}
      const issuer = await startIssuer(forged)
      const harness = createSignInHarness({
        store: await engine.open(),
        configs: [config(issuer.issuer)],
      })
      for (const kid of ['first', 'second']) {
        forged.kid = kid
        const { token, sent } = await harness.start('oidc')
        issuer.give(sent.get('nonce') ?? '')
        const response = await harness.callback('oidc', { state: token, code: 'c' }, token)
        expect(response.status).toBe(303)
      }
      expect(issuer.keyRequests()).toBe(2)
    })

    test('that no key has signed causes one further request for keys', async () => {
      const { answer, issuer } = await signIn({ header: { kid: 'unknown' } })
      expect([answer.status, issuer.keyRequests()]).toEqual([503, 2])
    })

    test.each<[string, Forged, string, string]>([
      ['token', { token: { access_token: 1 } }, '/token', '&quot;access_token&quot; property'],
      ['claim', { claims: { aud: 'another' } }, '/token', '&quot;aud&quot;'],
      ['key', { keys: 'away' }, '/jwks', 'unexpected HTTP status'],
      [
        'issuer',
        { metadata: { issuer: 'https://evil.example' } },
        '/.well-known/openid-configuration',
        '&quot;issuer&quot;',
      ],
    ])(
      'the page and the log name the invalid %s, the status and the URL',
      async (_, forged, path, field) => {
        const { answer, harness, issuer } = await signIn(forged)
        const page = await answer.text()
        const status = forged.keys === 'away' ? 500 : 200
        expect(page).toContain(`(status ${status} from ${issuer.issuer}${path})`)
        expect(page).toContain(field)
        expect(harness.lines.join()).toContain(`(status ${status} from ${issuer.issuer}${path})`)
      },
    )

    const past = Math.floor(Date.now() / 1000) - 3_600
    test.each<[string, Forged]>([
      ['missing', { without: 'id_token' }],
      ['signed with another key', { key: wrong.privateKey }],
      ['not signed', { without: 'signature' }],
      ['not signed, with the algorithm none', { header: { alg: 'none' }, without: 'signature' }],
      ['for another client', { claims: { aud: 'another-app' } }],
      ['of another issuer', { claims: { iss: 'https://evil.example' } }],
      ['of another sign-in', { claims: { nonce: 'another' } }],
      ['without the nonce', { claims: { nonce: undefined } }],
      ['expired', { claims: { exp: past, iat: past - 60 } }],
      ['without a subject', { claims: { sub: undefined } }],
      ['of an empty subject', { claims: { sub: '' } }],
      ['of a subject of 256 characters', { claims: { sub: 'a'.repeat(256) } }],
      ['of a subject with a control character', { claims: { sub: 'a\u0007' } }],
      ['of a subject beyond ASCII', { claims: { sub: 'é' } }],
      ['signed by a key that cannot be read', { keys: 'away' }],
      [
        'of an issuer whose metadata has another name',
        { metadata: { issuer: 'https://evil.example' } },
      ],
    ])('is rejected if it is %s', async (_, forged) => {
      const { answer, harness } = await signIn(forged)
      expect(answer.status).toBe(503)
      expect(harness.signedIn).toEqual([])
    })

    test('a failed discovery is not cached', async () => {
      const issuer = await startIssuer({})
      const harness = createSignInHarness({
        store: await engine.open(),
        configs: [config(issuer.issuer)],
      })
      issuer.isDown(true)
      const first = await harness.start('oidc')
      expect(first.answer.status).toBe(503)
      expect(await first.answer.text()).toContain('Work returned an invalid response')
      issuer.isDown(false)
      expect((await harness.start('oidc')).answer.status).toBe(303)
    })
  })
})
