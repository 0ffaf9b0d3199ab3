import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import { gzipSync } from 'node:zlib'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import createByDefault, {
  createOAuth2Client,
  type OAuth2ClientOptions,
  OAuth2Error,
  type OAuth2ErrorCode,
} from './client.ts'

// One file, like the module: it tests each operation against all kinds of provider responses.

const ID = 'canary-id-7f3a&<>"1'
const SECRET = 'canary:secret/9c2e +%"\'1'
const CALLBACK = 'https://app.example/callback?x=1'

const endpoints = {
  authEndpoint: 'https://id.example/authorize',
  tokenEndpoint: 'https://id.example/token',
}
const credentials = { clientId: ID, clientSecret: SECRET }

interface Received {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/**
 * Starts a server on loopback that records requests. Returns the client options that point at it.
 */
async function serve(answer: (response: ServerResponse, request: Received) => void) {
  const received: Received[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { method, url, headers } = request
    const one = { method, url, headers, body: Buffer.concat(chunks).toString() }
    received.push(one)
    answer(response, one)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const options: OAuth2ClientOptions = {
    ...credentials,
    authEndpoint: `${origin}/authorize`,
    tokenEndpoint: `${origin}/token?tenant=1`,
    activeUserEndpoint: `${origin}/user?fields=id`,
  }
  return { origin, options, received, one: () => received[0] as Received }
}

const send =
  (body: string | Buffer, type = 'application/json', status = 200) =>
  (response: ServerResponse) => {
    response.writeHead(status, { 'Content-Type': type }).end(body)
  }

const json = (value: unknown, status = 200) =>
  send(JSON.stringify(value), 'application/json', status)

async function failure(promise: Promise<unknown>): Promise<OAuth2Error> {
  const thrown = await promise.then(
    (value) => expect.fail(`resolved with ${inspect(value)}`),
    (error: unknown) => error,
  )
  expect(thrown).toBeInstanceOf(OAuth2Error)
  return thrown as OAuth2Error
}

/** The operations that read a response, each with one call. */
const operations = [
  [
    'exchangeGrantToken',
    (options) => createOAuth2Client(options).exchangeGrantToken('c', CALLBACK),
  ],
  ['refresh', (options) => createOAuth2Client(options).refresh('r')],
  ['fetchActiveUser', (options) => createOAuth2Client(options).fetchActiveUser('t')],
] satisfies [string, (options: OAuth2ClientOptions) => Promise<unknown>][]

test('the factory is the default export and a named one', () => {
  expect(createByDefault).toBe(createOAuth2Client)
})

describe('the options', () => {
  test('are all reported together if they are missing', () => {
    expect(() => createOAuth2Client({} as OAuth2ClientOptions)).toThrow(
      expect.objectContaining({
        name: 'OAuth2Error',
        code: 'invalid-options',
        message:
          'createOAuth2Client: authEndpoint is missing; tokenEndpoint is missing; ' +
          'clientId is missing; clientSecret is missing',
      }),
    )
    expect(() => createOAuth2Client(undefined as never)).toThrow('authEndpoint is missing')
  })

  test.each([
    'id.example/token',
    '/token',
    'https:id.example/token',
    'ftp://id.example/token',
    'https://',
    ' https://id.example/token',
    'https://id.example/to\nken',
    'https://id.example/token#fragment',
    'https://user:word@id.example/token',
  ])('reject an invalid endpoint without repeating it: %j', (url) => {
    for (const name of [
      'authEndpoint',
      'tokenEndpoint',
      'refreshEndpoint',
      'activeUserEndpoint',
    ] as const) {
      const create = () => createOAuth2Client({ ...endpoints, ...credentials, [name]: url })
      expect(create).toThrow(`${name} must be a fully-qualified http(s) URL`)
      expect(create).not.toThrow('id.example')
    }
  })

  test.each([
    ['clientId', '', 'clientId must be a non-empty string'],
    ['clientSecret', 1, 'clientSecret must be a non-empty string'],
    ['activeUserEndpoint', '', 'activeUserEndpoint must be a non-empty string'],
    ['timeout', 0, 'timeout must be a whole number'],
    ['timeout', 2 ** 31, 'timeout must be a whole number'],
    ['maxBytes', 1.5, 'maxBytes must be a whole number'],
    ['tokenEndpointAuthMethod', 'none', 'tokenEndpointAuthMethod must be'],
  ])('reject %s %j', (name, value, message) => {
    const options = { ...endpoints, ...credentials, [name]: value }
    expect(() => createOAuth2Client(options as OAuth2ClientOptions)).toThrow(message)
  })

  test('are read once', () => {
    const options = { ...endpoints, ...credentials }
    const client = createOAuth2Client(options)
    options.authEndpoint = 'https://elsewhere.example/'
    expect(client.getAuthUrl(CALLBACK)).toMatch(/^https:\/\/id\.example\//)
    expect(Object.isFrozen(client)).toBe(true)
  })
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

describe.each(operations)('%s throws', (_, operate) => {
  test.each(['', ' \r\n'])('on an empty body: %j', async (body) => {
    for (const type of ['application/json', 'application/x-www-form-urlencoded']) {
      const { options } = await serve(send(body, type))
      expect(await failure(operate(options))).toMatchObject({ code: 'empty-body', status: 200 })
    }
  })

  test('on status 204', async () => {
    const { options } = await serve((response) => response.writeHead(204).end())
    expect(await failure(operate(options))).toMatchObject({ code: 'empty-body', status: 204 })
  })

  test.each([
    [200, { error: 'access_denied', access_token: 'at', id: 1 }, 'provider-error'],
    [400, { error: 'invalid_grant' }, 'provider-error'],
    [500, { access_token: 'at', id: 1 }, 'http-status'],
    [304, undefined, 'http-status'],
    [503, undefined, 'http-status'],
  ])('on status %i with %j', async (status, body, code) => {
    const { options } = await serve(body ? json(body, status) : send('', 'text/html', status))
    expect(await failure(operate(options))).toMatchObject({ code, status })
  })

  test.each([301, 302, 303, 307, 308])('on redirect %i, which is not followed', async (status) => {
    const elsewhere = await serve(json({ access_token: 'at', id: 1 }))
    const { options } = await serve((response) => {
      response.writeHead(status, { Location: elsewhere.origin }).end('{"access_token":"a","id":1}')
    })
    expect(await failure(operate(options))).toMatchObject({ code: 'redirect', status })
    expect(elsewhere.received).toEqual([])
  })

  test('on a response that never begins', async () => {
    const { options } = await serve(() => {})
    const error = await failure(operate({ ...options, timeout: 100 }))
    expect(error).toMatchObject({ code: 'timeout', status: undefined })
    expect(error.message).toMatch('within 100 ms')
  })

  test('on a response that trickles', async () => {
    const { options } = await serve((response) => {
      response.writeHead(200, { 'Content-Type': 'application/json' })
      const trickle = setInterval(() => response.write(' '), 5)
      response.on('close', () => clearInterval(trickle))
    })
    // The time ends while the body arrives, however late its head was.
    const time = new AbortController()
    vi.spyOn(AbortSignal, 'timeout').mockReturnValue(time.signal)
    const fetch = globalThis.fetch
    vi.spyOn(globalThis, 'fetch').mockImplementation(async (...request) => {
      const response = await fetch(...request)
      setImmediate(() => time.abort(new DOMException('', 'TimeoutError')))
      return response
    })
    expect(await failure(operate(options))).toMatchObject({ code: 'timeout', status: 200 })
  })

  test('after 10 s by default', async () => {
    const timeout = AbortSignal.timeout.bind(AbortSignal)
    const requested = vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => timeout(50))
    const { options } = await serve(() => {})
    expect(await failure(operate(options))).toHaveProperty('code', 'timeout')
    expect(requested.mock.calls).toEqual([[10_000]])
  })

  test('above 1 MiB by default', async () => {
    const fill = (bytes: number) => {
      const frame = '{"access_token":"at","pad":""}'
      return frame.replace('""', `"${'x'.repeat(bytes - frame.length)}"`)
    }
    let bytes = 1_048_576
    const { options } = await serve((response) => send(fill(bytes))(response))
    await expect(operate(options)).resolves.toHaveProperty('access_token', 'at')
    bytes += 1
    expect(await failure(operate(options))).toMatchObject({ code: 'too-large', status: 200 })
  })

  test('on a body that never ends, without reading on', async () => {
    const closed = vi.fn()
    const { options } = await serve((response) => {
      response.on('close', closed).writeHead(200)
      const pour = () => {
        while (!response.destroyed && response.write('x'.repeat(1_000)));
      }
      response.on('drain', pour)
      pour()
    })
    const error = await failure(operate({ ...options, maxBytes: 10_000 }))
    expect(error).toHaveProperty('code', 'too-large')
    await expect.poll(() => closed).toHaveBeenCalled()
  })

  test('on a small body that is large when decompressed', async () => {
    const bomb = gzipSync(`{"access_token":"at","id":1${' '.repeat(2_000_000)}}`)
    expect(bomb.length).toBeLessThan(10_000)
    const { options } = await serve((response) => {
      response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(bomb)
    })
    expect(await failure(operate(options))).toHaveProperty('code', 'too-large')
  })

  test('on text that is not UTF-8', async () => {
    const body = Buffer.from('{"access_token":"at","id":"\xff"}', 'latin1')
    const { options } = await serve(send(body))
    expect(await failure(operate(options))).toMatchObject({ code: 'unparsable', status: 200 })
  })

  test('on a broken connection, with the reason as cause', async () => {
    const { options } = await serve((response) => response.destroy())
    const error = await failure(operate(options))
    expect(error).toMatchObject({ code: 'network', status: undefined })
    expect(inspect(error.cause)).toMatch('UND_ERR_SOCKET')
  })
})

describe('the client id and the secret', () => {
  const formEncoded = (value: string) => new URLSearchParams({ '': value }).toString().slice(1)
  const basic = Buffer.from([ID, SECRET].map(formEncoded).join(':')).toString('base64')
  // All spellings in which a provider may repeat a value.
  const echoes = [ID, SECRET].flatMap((value) => [
    value,
    value.toUpperCase(),
    encodeURIComponent(value),
    encodeURIComponent(value).toLowerCase(),
    formEncoded(value),
    JSON.stringify(value),
    value
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('"', '&quot;')
      .replaceAll("'", '&#39;')
      .replaceAll('>', '&gt;'),
  ])

  /** Returns everything that printing an error can show. */
  const shown = (error: unknown): string =>
    [
      inspect(error, { depth: null, showHidden: true, getters: true }),
      JSON.stringify(error),
      JSON.stringify(error, Object.getOwnPropertyNames(error)),
      String(error),
      (error as Error).stack,
      error instanceof Error && error.cause ? shown(error.cause) : '',
    ].join('\n')

  const expectNothing = (text: string) => {
    for (const trace of [/canary/i, /7f3a/i, /9c2e/i]) expect(text).not.toMatch(trace)
    expect(text).not.toContain(basic)
  }

  /** Returns the errors of all operations. Each operation sends its own canary values. */
  const everyFailure = async (options: OAuth2ClientOptions) => {
    const { exchangeGrantToken, refresh, fetchActiveUser } = createOAuth2Client(options)
    const args = { code_verifier: 'canary-verifier-53' }
    return [
      await failure(exchangeGrantToken('canary-code-52', CALLBACK, args)),
      await failure(refresh('canary-refresh-55')),
      await failure(fetchActiveUser('canary-access-54')),
    ]
  }

  const answers: [string, OAuth2ErrorCode, (words: string) => (to: ServerResponse) => void][] = [
    ['an error', 'provider-error', (words) => json({ error: words }, 400)],
    [
      'a description with status 200',
      'provider-error',
      (words) => json({ error: 'x', error_description: words }),
    ],
    [
      'a truncated description',
      'provider-error',
      (words) => json({ error: 'x', error_description: 'x '.repeat(95) + words }),
    ],
    [
      'an error that is an object',
      'provider-error',
      (words) => json({ error: { type: words, message: words } }),
    ],
    ['a message', 'http-status', (message) => json({ message }, 401)],
    ['text that is not JSON', 'unparsable', (words) => send(`{"a": ${words}`)],
    ['an endless page', 'too-large', (words) => send(words.repeat(100_000), 'text/html')],
    [
      'a redirect',
      'redirect',
      (words) => (to) => {
        to.writeHead(302, { Location: `/?${encodeURIComponent(words)}` }).end()
      },
    ],
    [
      'a malformed response',
      'network',
      (words) => (to) => {
        to.socket?.end(`${words}\r\n\r\n`)
      },
    ],
  ]

  test.each(answers)('are in no error if the provider repeats them in %s', async (...row) => {
    const [, code, answer] = row
    let words = ''
    const { options } = await serve((response, { body, headers }) => {
      const sent = [...new URLSearchParams(body).values(), headers.authorization].join(' ')
      answer(words || `${body} ${sent}`)(response)
    })
    for (const authMethod of ['client_secret_post', 'client_secret_basic'] as const) {
      for (words of ['', basic, ...echoes]) {
        const errors = await everyFailure({ ...options, tokenEndpointAuthMethod: authMethod })
        for (const error of errors) {
          expect(error.code).toBe(code)
          expectNothing(shown(error))
        }
      }
    }
  })

  test('are in no error if they are part of the endpoints', async () => {
    const query = new URLSearchParams({ key: SECRET, id: ID })
    const url = `http://127.0.0.1:1/?${query}`
    const options = { ...credentials, ...endpoints, tokenEndpoint: url, activeUserEndpoint: url }
    for (const error of await everyFailure(options)) {
      expect(error.code).toBe('network')
      expectNothing(shown(error))
    }
  })

  test('are in no error of fetch or its causes', async () => {
    const inner = Object.assign(new Error(SECRET), { code: 'ECONNRESET', sent: SECRET })
    const outer = new TypeError(`fetch failed for ${ID}`, { cause: inner })
    inner.cause = outer
    const activeUserEndpoint = 'https://id.example/user'
    const fetching = vi.spyOn(globalThis, 'fetch').mockRejectedValue(outer)
    for (const error of await everyFailure({ ...endpoints, ...credentials, activeUserEndpoint })) {
      expect(error).toMatchObject({ code: 'network', cause: { cause: { code: 'ECONNRESET' } } })
      expectNothing(shown(error))
    }
    expect(fetching).toHaveBeenCalled()
  })

  test('are in no error about the options', () => {
    for (const wrong of [{ authEndpoint: SECRET }, { tokenEndpoint: ID }, { timeout: SECRET }]) {
      try {
        createOAuth2Client({ ...endpoints, ...credentials, ...wrong } as OAuth2ClientOptions)
        expect.fail('nothing was thrown')
      } catch (error) {
        expect(error).toBeInstanceOf(OAuth2Error)
        expectNothing(shown(error))
      }
    }
  })

  test('are not in a token that fails to be a header', async () => {
    const client = createOAuth2Client({
      ...endpoints,
      ...credentials,
      activeUserEndpoint: 'http://127.0.0.1:1',
    })
    expectNothing(shown(await failure(client.fetchActiveUser('canary\n'))))
  })

  test('cannot be seen on the client', () => {
    const client = createOAuth2Client({ ...endpoints, ...credentials })
    expectNothing(inspect(client, { depth: null, showHidden: true, getters: true }))
    expectNothing(JSON.stringify(client))
    expectNothing(Object.values(client).map(String).join())
  })

  test('are redacted completely if one is a prefix of the other', async () => {
    const { options } = await serve(json({ error: 'x', error_description: 'application-key' }))
    const clientSecret = 'application-key'
    const client = createOAuth2Client({ ...options, clientId: 'application', clientSecret })
    const { cause } = await failure(client.refresh('rt'))
    expect(cause).toEqual({ error: 'x', error_description: '[redacted]' })
  })

  test('do not redact parts of words if they are short', async () => {
    const { options } = await serve(
      json({ error: 'invalid_grant', error_description: 'client id: id, client_secret: secret' }),
    )
    const client = createOAuth2Client({ ...options, clientId: 'id', clientSecret: 'secret' })
    expect((await failure(client.refresh('grant'))).cause).toEqual({
      error: 'invalid_grant',
      error_description: 'client [redacted]: [redacted], client_secret: [redacted]',
    })
  })
})
