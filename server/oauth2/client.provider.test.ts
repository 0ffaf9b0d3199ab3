import { createHash, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createOAuth2Client, type OAuth2Client, type TokenEndpointAuthMethod } from './client.ts'
import { startTestProvider, type TestProvider } from './providers/provider.testing.ts'

const callback = 'https://app.example/callback'
// These characters need encoding in both a form body and a Basic header.
const clientSecret = 'a: secret+with%41&=~/"'

const methods = ['client_secret_post', 'client_secret_basic'] as const
const idOf = (method: TokenEndpointAuthMethod) => `app:${method}`

let provider: TestProvider

beforeAll(async () => {
  provider = await startTestProvider(
    methods.map((method) => ({
      client_id: idOf(method),
      client_secret: clientSecret,
      redirect_uris: [callback],
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: method,
    })),
  )
})

afterAll(() => provider.close())

const clientOf = (method: TokenEndpointAuthMethod, secret = clientSecret) =>
  createOAuth2Client({
    authEndpoint: `${provider.authEndpoint}?scope=openid`,
    tokenEndpoint: provider.tokenEndpoint,
    activeUserEndpoint: provider.activeUserEndpoint,
    clientId: idOf(method),
    clientSecret: secret,
    tokenEndpointAuthMethod: method,
  })

/** Performs the authorization request as a browser does. Returns the code and the verifier. */
async function authorize({ getAuthUrl }: OAuth2Client) {
  const code_verifier = randomBytes(32).toString('base64url')
  const state = randomBytes(16).toString('base64url')
  const code_challenge = createHash('sha256').update(code_verifier).digest('base64url')
  const url = getAuthUrl(callback, { state, code_challenge, code_challenge_method: 'S256' })
  const back = await provider.authorize(url)
  expect(back.origin + back.pathname).toBe(callback)
  expect(back.searchParams.get('state')).toBe(state)
  expect(back.searchParams.get('error')).toBeNull()
  return { code: back.searchParams.get('code') ?? '', args: { code_verifier } }
}

describe.each(methods)('at oidc-provider with PKCE required, by %s', (method) => {
  test('exchanges a code for a token, and the token for a person', async () => {
    const client = clientOf(method)
    const { code, args } = await authorize(client)
    const token = await client.exchangeGrantToken(code, callback, args)
    expect(token).toMatchObject({ token_type: 'Bearer', scope: 'openid', expires_in: 600 })
    const user = await client.fetchActiveUser(token.access_token)
    expect(user).toEqual({ sub: 'ada', id: 'id-of-ada' })
  })

  test('exchanges a refresh token for a new token', async () => {
    const client = clientOf(method)
    const { code, args } = await authorize(client)
    const first = await client.exchangeGrantToken(code, callback, args)
    const second = await client.refresh(first.refresh_token ?? '')
    expect(second.access_token).not.toBe(first.access_token)
    expect(await client.fetchActiveUser(second.access_token)).toHaveProperty('id', 'id-of-ada')
  })

  test.each([
    ['a wrong secret', 'invalid_client', 401, { secret: 'another' }],
    ['another redirect_uri', 'invalid_grant', 400, { redirect_uri: `${callback}?x=1` }],
    ['another verifier', 'invalid_grant', 400, { code_verifier: 'x'.repeat(43) }],
    ['no verifier', 'invalid_grant', 400, { code_verifier: null }],
  ])('%s is rejected with %s', async (_, error, status, wrong) => {
    const { code, args } = await authorize(clientOf(method))
    const client = clientOf(method, 'secret' in wrong ? wrong.secret : clientSecret)
    const redirect_uri = 'redirect_uri' in wrong ? wrong.redirect_uri : callback
    const verifier = 'code_verifier' in wrong ? wrong.code_verifier : args.code_verifier
    await expect(
      client.exchangeGrantToken(code, redirect_uri, { code_verifier: verifier }),
    ).rejects.toMatchObject({ code: 'provider-error', status, cause: { error } })
  })

  test('a code is accepted once', async () => {
    const client = clientOf(method)
    const { code, args } = await authorize(client)
    await client.exchangeGrantToken(code, callback, args)
    await expect(client.exchangeGrantToken(code, callback, args)).rejects.toMatchObject({
      cause: { error: 'invalid_grant' },
    })
  })

  test('without a challenge no code is issued', async () => {
    const back = await provider.authorize(clientOf(method).getAuthUrl(callback))
    expect(back.searchParams.get('error')).toBe('invalid_request')
    expect(back.searchParams.get('code')).toBeNull()
  })

  test('an unknown access token is rejected', async () => {
    await expect(clientOf(method).fetchActiveUser('foreign')).rejects.toMatchObject({
      code: 'provider-error',
      status: 401,
      cause: { error: 'invalid_token' },
    })
  })
})
