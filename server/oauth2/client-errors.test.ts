import { inspect } from 'node:util'
import { gzipSync } from 'node:zlib'
import { describe, expect, test, vi } from 'vitest'
import { CALLBACK, failure, json, send, serve } from './client.testing.ts'
import { createOAuth2Client, type OAuth2ClientOptions } from './client.ts'

/** The operations that read a response, each with one call. */
const operations = [
  [
    'exchangeGrantToken',
    (options) => createOAuth2Client(options).exchangeGrantToken('c', CALLBACK),
  ],
  ['refresh', (options) => createOAuth2Client(options).refresh('r')],
  ['fetchActiveUser', (options) => createOAuth2Client(options).fetchActiveUser('t')],
] satisfies [string, (options: OAuth2ClientOptions) => Promise<unknown>][]

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
