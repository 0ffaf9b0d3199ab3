import type { ServerResponse } from 'node:http'
import { inspect } from 'node:util'
import { describe, expect, test, vi } from 'vitest'
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
import {
  createOAuth2Client,
  type OAuth2ClientOptions,
  OAuth2Error,
  type OAuth2ErrorCode,
} from './client.ts'

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

  test('are not searched in a text that takes long to search, which is redacted', async () => {
    const { options } = await serve(json({ error: 'x', error_description: 'y'.repeat(8_193) }))
    const client = createOAuth2Client({ ...options, ...credentials })
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
