import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { Hono } from 'hono'
import { describe, expect, it, vi } from 'vitest'
import { WAIT } from '../../test-support/wait.testing.ts'
import type { AppEnv } from '../env.ts'
import { bodyChunks } from '../input/body/request-body.ts'
import { createErrorHandler } from './render-failure.ts'

const logged = vi.fn()

const app = new Hono<AppEnv>()
  .post('/', async (c) => {
    for await (const _ of bodyChunks(c));
    return c.text('read')
  })
  .get('/', () => {
    throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
  })
  .onError(createErrorHandler((message) => (error) => logged(message, error)))

describe('a client that disconnects before its body is read', () => {
  it.each([
    ['a part', '12345', false],
    ['all', '1234567890', true],
  ])('is not logged if %s of the body has arrived', async (_, body, complete) => {
    const failed = Promise.withResolvers<Response>()
    const server = createServer(async (incoming, outgoing) => {
      await vi.waitUntil(() => incoming.readableLength === body.length, WAIT)
      await vi.waitUntil(() => incoming.complete === complete, WAIT)
      client.destroy()
      await once(outgoing, 'close')
      const bindings = { incoming, outgoing, listener: {} } as unknown as AppEnv['Bindings']
      failed.resolve(await app.request('/', { method: 'POST' }, bindings))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
    client.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n${body}`)
    expect((await failed.promise).status).toBe(500)
    expect(logged).not.toHaveBeenCalled()
    server.close()
  })
})

it('logs another connection of the server that is reset', async () => {
  const outgoing = { destroyed: false }
  const bindings = {
    incoming: { complete: true },
    outgoing,
    listener: {},
  } as unknown as AppEnv['Bindings']
  expect((await app.request('/', {}, bindings)).status).toBe(500)
  expect(logged).toHaveBeenCalledWith(
    'An unexpected error occurred. The server log has the details.',
    expect.objectContaining({ message: 'read ECONNRESET' }),
  )
})
