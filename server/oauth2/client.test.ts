import { describe, expect, test } from 'vitest'
import {
  CALLBACK,
  credentials,
  endpoints,
  failure,
  ID,
  json,
  SECRET,
  send,
  serve,
} from './client.testing.ts'
import createByDefault, { createOAuth2Client } from './client.ts'

test('the factory is the default export and a named one', () => {
  expect(createByDefault).toBe(createOAuth2Client)
})

describe('getAuthUrl', () => {
  const authUrl = (authEndpoint: string, args?: Record<string, unknown>) => {
    const { getAuthUrl } = createOAuth2Client({ ...endpoints, ...credentials, authEndpoint })
    return new URL(getAuthUrl(CALLBACK, args as never))
  }

  test('appends client_id, redirect_uri, response_type and the arguments', () => {
    const url = authUrl('https://id.example/authorize', { state: 'a b', max_age: 0, x: undefined })
    expect(url.origin + url.pathname).toBe('https://id.example/authorize')
    expect([...url.searchParams]).toEqual([
      ['client_id', ID],
      ['redirect_uri', CALLBACK],
      ['response_type', 'code'],
      ['state', 'a b'],
      ['max_age', '0'],
    ])
  })

  test('keeps the query parameters of authEndpoint unchanged', () => {
    const kept = 'access_type=offline&scope=a%20b&resource=1&resource=2&flag'
    const { search } = authUrl(`https://id.example/authorize?${kept}`)
    expect(search).toMatch(`?${kept}&client_id=`)
    expect(authUrl('https://id.example/?&').search).toMatch(/^\?client_id=/)
  })

  test('contains no parameter twice: arguments take precedence over authEndpoint', () => {
    const { searchParams } = authUrl(
      'https://id.example/?scope=user&%73cope=again&client_id=x&response_type=token&keep=1',
      { scope: 'openid', response_type: 'code id_token' },
    )
    expect(searchParams.getAll('scope')).toEqual(['openid'])
    expect(searchParams.getAll('client_id')).toEqual([ID])
    expect(searchParams.getAll('response_type')).toEqual(['code id_token'])
    expect(searchParams.getAll('keep')).toEqual(['1'])
  })

  test('rejects arguments that replace client_id or redirect_uri, or reveal a secret', () => {
    const args = { client_id: 'x', redirect_uri: 'https://evil.example/', client_secret: SECRET }
    const { searchParams } = authUrl('https://id.example/', args)
    expect(searchParams.getAll('client_id')).toEqual([ID])
    expect(searchParams.getAll('redirect_uri')).toEqual([CALLBACK])
    expect(searchParams.has('client_secret')).toBe(false)
  })

  test('rejects an argument that is not a string, and a missing redirect_uri', () => {
    expect(() => authUrl('https://id.example/', { scope: ['a', 'b'] })).toThrow(
      expect.objectContaining({ code: 'invalid-argument' }),
    )
    const client = createOAuth2Client({ ...endpoints, ...credentials })
    expect(() => client.getAuthUrl('')).toThrow('redirect_uri must be a non-empty string')
  })
})

describe('exchangeGrantToken', () => {
  test('posts a form with the credentials in it, and asks for JSON', async () => {
    const { options, one } = await serve(json({ access_token: 'at', extra: { a: 1 } }))
    const args = { code_verifier: 'v', code: 'other', client_secret: 'other', none: null }
    const response = await createOAuth2Client(options).exchangeGrantToken('c+1', CALLBACK, args)
    expect(response).toEqual({ access_token: 'at', extra: { a: 1 } })
    expect(one()).toMatchObject({ method: 'POST', url: '/token?tenant=1' })
    expect(one().headers).toMatchObject({
      accept: 'application/json',
      'content-type': 'application/x-www-form-urlencoded',
      'user-agent': 'Gatehouse',
    })
    expect(one().headers).not.toHaveProperty('authorization')
    expect([...new URLSearchParams(one().body)]).toEqual([
      ['code', 'c+1'],
      ['redirect_uri', CALLBACK],
      ['grant_type', 'authorization_code'],
      ['code_verifier', 'v'],
      ['client_id', ID],
      ['client_secret', SECRET],
    ])
  })

  test('accepts another grant_type', async () => {
    const { options, one } = await serve(json({ access_token: 'at' }))
    await createOAuth2Client(options).exchangeGrantToken('c', CALLBACK, { grant_type: 'urn:x' })
    expect(new URLSearchParams(one().body).getAll('grant_type')).toEqual(['urn:x'])
  })

  test('with client_secret_basic, sends the form-encoded credentials only in the header', async () => {
    const { options, one } = await serve(json({ access_token: 'at' }))
    const tokenEndpointAuthMethod = 'client_secret_basic'
    const client = createOAuth2Client({ ...options, tokenEndpointAuthMethod })
    await client.exchangeGrantToken('c', CALLBACK)
    const [scheme, encoded = ''] = one().headers.authorization?.split(' ') ?? []
    expect(scheme).toBe('Basic')
    expect(Buffer.from(encoded, 'base64').toString()).toBe(
      'canary-id-7f3a%26%3C%3E%221:canary%3Asecret%2F9c2e+%2B%25%22%271',
    )
    expect([...new URLSearchParams(one().body).keys()]).toEqual([
      'code',
      'redirect_uri',
      'grant_type',
    ])
  })

  const FORM = 'application/x-www-form-urlencoded; charset=utf-8'
  test.each([
    ['a form', 'access_token=gho_1&scope=user%3Aemail&token_type=bearer', FORM],
    [
      'a form sent as text/plain',
      'access_token=gho_1&scope=user%3Aemail&token_type=bearer\n',
      'text/plain',
    ],
    [
      'a form sent as text/html',
      'access_token=gho_1&scope=user%3Aemail&token_type=bearer',
      'text/html',
    ],
    [
      'JSON sent as text/html',
      '{"access_token":"gho_1","scope":"user:email","token_type":"bearer"}',
      'text/html',
    ],
    [
      'JSON sent as a form',
      '{"access_token":"gho_1","scope":"user:email","token_type":"bearer"}',
      FORM,
    ],
    [
      'JSON after a byte order mark',
      '\ufeff{"access_token":"gho_1","scope":"user:email","token_type":"bearer"}',
      'application/json',
    ],
  ])('reads %s', async (_, body, type) => {
    const { options } = await serve(send(body, type))
    expect(await createOAuth2Client(options).exchangeGrantToken('c', CALLBACK)).toEqual({
      access_token: 'gho_1',
      scope: 'user:email',
      token_type: 'bearer',
    })
  })

  test.each([
    ['{"token_type":"bearer"}', 'application/json'],
    ['{"access_token":""}', 'application/json'],
    ['{"access_token":{"value":"x"}}', 'application/json'],
    ['token_type=bearer', FORM],
  ])('rejects a response without an access token: %s', async (body, type) => {
    const { options } = await serve(send(body, type))
    const error = await failure(createOAuth2Client(options).exchangeGrantToken('c', CALLBACK))
    expect(error).toMatchObject({ code: 'no-access-token', status: 200 })
  })

  test.each([
    ['access_token=a&access_token=b', FORM],
    ['<html>Sign in & go', 'text/html'],
    ['{"x":1&access_token=a', 'text/plain'],
    ['access_token=a', 'application/json'],
  ])('rejects an unreadable response: %s', async (body, type) => {
    const { options } = await serve(send(body, type))
    const error = await failure(createOAuth2Client(options).exchangeGrantToken('c', CALLBACK))
    expect(error).toMatchObject({ code: 'unparsable', status: 200 })
  })

  test('throws on an error in a form with status 200, as GitHub sends it', async () => {
    const body = 'error=bad_verification_code&error_description=The+code+is+expired.&error_uri=x'
    const { options } = await serve(send(body, FORM))
    const error = await failure(createOAuth2Client(options).exchangeGrantToken('c', CALLBACK))
    expect(error).toMatchObject({
      code: 'provider-error',
      status: 200,
      message: 'the token endpoint reported bad_verification_code: The code is expired.',
      cause: { error: 'bad_verification_code', error_description: 'The code is expired.' },
    })
  })

  test('ignores an empty error field', async () => {
    const { options } = await serve(json({ access_token: 'at', error: null }))
    const { exchangeGrantToken } = createOAuth2Client(options)
    await expect(exchangeGrantToken('c', CALLBACK)).resolves.toHaveProperty('access_token', 'at')
  })

  test('sends no request without a code', async () => {
    const { options, received } = await serve(json({ access_token: 'at' }))
    const { exchangeGrantToken, refresh } = createOAuth2Client(options)
    const code = await failure(exchangeGrantToken(undefined as never, CALLBACK))
    expect(code).toMatchObject({ code: 'invalid-argument', status: undefined })
    expect(await failure(exchangeGrantToken('c', ''))).toHaveProperty('code', 'invalid-argument')
    expect(await failure(refresh(''))).toHaveProperty('code', 'invalid-argument')
    expect(received).toEqual([])
  })
})

describe('fetchActiveUser', () => {
  test('sends the token as Bearer and its own User-Agent', async () => {
    const { options, one } = await serve(json({ id: 583231, login: 'ada' }))
    const user = await createOAuth2Client(options).fetchActiveUser('gho_1')
    expect(user).toEqual({ id: 583231, login: 'ada' })
    expect(one()).toMatchObject({ method: 'GET', url: '/user?fields=id', body: '' })
    expect(one().headers).toMatchObject({
      accept: 'application/json',
      authorization: 'Bearer gho_1',
      'user-agent': 'Gatehouse',
    })
  })

  test.each([undefined, null])('is null if activeUserEndpoint is %s', async (none) => {
    const client = createOAuth2Client({ ...endpoints, ...credentials, activeUserEndpoint: none })
    expect(await client.fetchActiveUser('gho_1')).toBeNull()
  })

  test('distinguishes two ids that are equal as JavaScript numbers', async () => {
    const ids = ['9007199254740993', '9007199254740992']
    const { options } = await serve((response) => {
      send(`{"id":${ids.shift()},"score":1e20}`)(response)
    })
    const { fetchActiveUser } = createOAuth2Client(options)
    expect(await fetchActiveUser('t')).toEqual({ id: '9007199254740993', score: 1e20 })
    expect(await fetchActiveUser('t')).toEqual({ id: '9007199254740992', score: 1e20 })
  })

  test.each(['null', '[]', '"ada"', '<html>', 'id=1', `${'['.repeat(100_000)}`])(
    'rejects a response that is not a JSON object: %.10s',
    async (body) => {
      const { options } = await serve(send(body))
      const error = await failure(createOAuth2Client(options).fetchActiveUser('t'))
      expect(error).toMatchObject({ code: 'unparsable', status: 200 })
    },
  )

  test.each([
    [
      { error: { message: 'Invalid OAuth token.', type: 'OAuthException', code: 190 } },
      'OAuthException: Invalid OAuth token.',
    ],
    [
      { error: { message: 'No credentials.', status: 'UNAUTHENTICATED', code: 401 } },
      'UNAUTHENTICATED: No credentials.',
    ],
    [{ error: {} }, 'an error'],
  ])('throws on an error that is an object: %j', async (body, words) => {
    const { options } = await serve(json(body, 401))
    expect(await failure(createOAuth2Client(options).fetchActiveUser('t'))).toMatchObject({
      code: 'provider-error',
      status: 401,
      message: `the user endpoint reported ${words}`,
    })
  })

  test("includes the provider's error text, on one line and truncated", async () => {
    const message = `Bad\r\n\u202ecredentials ${'x'.repeat(300)}`
    const { options } = await serve(json({ message }, 401))
    const error = await failure(createOAuth2Client(options).fetchActiveUser('t'))
    expect(error).toMatchObject({ code: 'http-status', status: 401 })
    expect(error.message).toMatch(
      /^the user endpoint responded with status 401: Bad credentials x+$/,
    )
    expect(error.message.length).toBeLessThan(300)
  })

  test.each(['', 'a b', 'a\r\nX-Evil: 1', 'ü', undefined as never])(
    'rejects the token %j without sending it',
    async (token) => {
      const { options, received } = await serve(json({ id: 1 }))
      const error = await failure(createOAuth2Client(options).fetchActiveUser(token))
      expect(error.code).toBe('invalid-argument')
      expect(received).toEqual([])
    },
  )
})

describe('refresh', () => {
  test('posts the refresh token to the token endpoint by default', async () => {
    const { options, one } = await serve(json({ access_token: 'new' }))
    const args = { scope: 'a', grant_type: 'other' }
    expect(await createOAuth2Client(options).refresh('rt', args)).toEqual({ access_token: 'new' })
    expect(one()).toMatchObject({ method: 'POST', url: '/token?tenant=1' })
    expect(Object.fromEntries(new URLSearchParams(one().body))).toEqual({
      grant_type: 'refresh_token',
      refresh_token: 'rt',
      scope: 'a',
      client_id: ID,
      client_secret: SECRET,
    })
  })

  test('posts it to refreshEndpoint if there is one', async () => {
    const { origin, options, received } = await serve(json({ access_token: 'new' }))
    const client = createOAuth2Client({ ...options, refreshEndpoint: `${origin}/refresh` })
    await client.refresh('rt')
    await client.exchangeGrantToken('c', CALLBACK)
    expect(received.map(({ url }) => url)).toEqual(['/refresh', '/token?tenant=1'])
  })
})
