import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect, createServer } from 'node:net'
import { Hono } from 'hono'
import { createMiddleware } from 'hono/factory'
import { expect, onTestFinished, test } from 'vitest'
import type { Principal } from '../contract/access/principal.ts'
import { createExporter } from '../documents/export/exporter.ts'
import { createDocumentRepository } from '../documents/repository/stored-documents.ts'
import { createHttpEngine } from '../endpoints/listeners/http-engine.ts'
import { Traffic } from '../endpoints/traffic.ts'
import { createEventHub } from '../events/hub.ts'
import { createSendStream, createStreamLimit, eventRoutes } from '../events/routes.ts'
import type { AppEnv } from '../http/env.ts'
import { nodeHandler } from '../http/node-handler.ts'
import { compressResponses } from '../http/output/compression/compress-responses.ts'
import { renderFailure, toFailure } from '../http/output/render-failure.ts'
import { streamText } from '../http/output/stream-text.ts'
import { storeDatabases } from '../storage/test-support/databases.testing.ts'
import { forEngine } from '../storage/test-support/each-engine.testing.ts'
import { listener } from '../test-support/app.testing.ts'

// Tests what responses hold that are queued behind another one of their connection when the client
// disconnects.

/** Serves an application like a listener. Returns its port. */
async function serve(app: Hono<AppEnv>): Promise<number> {
  app.onError((error, c) => renderFailure(toFailure(error), c))
  const engine = createHttpEngine()
  engine.onRequest(nodeHandler(app.fetch, () => listener()))
  const owner = { traffic: new Traffic(), closing: false }
  const server = createServer({ allowHalfOpen: true }, (socket) => void engine.serve(socket, owner))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => {
    server.close()
    engine.close()
  })
  return (server.address() as AddressInfo).port
}

/** Sends requests at once on one connection, and reads no response. */
function pipeline(port: number, requests: number, headers = '') {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  socket.pause().write(`GET / HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`.repeat(requests))
  onTestFinished(() => void socket.destroy())
  return socket
}

/** Sends requests, each on its own connection. Closes all once the heads have arrived. */
async function headsOf(port: number, requests: number, headers: Record<string, string> = {}) {
  const responses = await Promise.all(
    Array.from({ length: requests }, async () => {
      const request = httpRequest({ port, headers, agent: false }).end()
      const [response] = (await once(request, 'response')) as [IncomingMessage]
      return response.on('error', () => {})
    }),
  )
  for (const response of responses) response.destroy()
  return responses
}

test('compressed responses leave their slots', async () => {
  let begun = 0
  const app = new Hono<AppEnv>().use(compressResponses(3)).get('/', (c) => {
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(Buffer.alloc(100_000, 'text ')),
      // Called once the response has taken the first part.
      pull: () => {
        begun++
        return new Promise(() => {})
      },
    })
    return c.body(body, 200, { 'Content-Type': 'text/plain' })
  })
  const port = await serve(app)
  const codings = async (requests: number) =>
    (await headsOf(port, requests, { 'Accept-Encoding': 'gzip' })).map(
      ({ headers }) => headers['content-encoding'],
    )
  const client = pipeline(port, 3, 'Accept-Encoding: gzip\r\n')
  await expect.poll(() => begun).toBe(3)
  expect(await codings(1)).toEqual([undefined])
  client.destroy()
  await expect.poll(() => codings(3)).toEqual(['gzip', 'gzip', 'gzip'])
})

test('event streams leave their slots and the hub', async () => {
  const hub = createEventHub()
  let subscribed = 0
  const counting: typeof hub = {
    ...hub,
    subscribe(callback) {
      const unsubscribe = hub.subscribe(callback)
      subscribed++
      return () => {
        subscribed--
        unsubscribe()
      }
    },
  }
  const reader = { role: 'viewer', personId: 'me' } as Principal
  const signedIn = () =>
    createMiddleware<AppEnv>(async (c, next) => {
      c.set('principal', reader)
      await next()
    })
  const routes = eventRoutes(
    counting,
    signedIn,
    createSendStream(counting, async () => reader, createStreamLimit(3)),
    () => [],
  )
  const port = await serve(new Hono<AppEnv>().route('/', routes))
  const status = async () => (await headsOf(port, 1))[0]?.statusCode
  const client = pipeline(port, 3)
  await expect.poll(() => subscribed).toBe(3)
  expect(await status()).toBe(429)
  client.destroy()
  await expect.poll(() => subscribed).toBe(0)
  expect(await status()).toBe(200)
})

forEngine('sqlite', (engine) => {
  test('exports leave their slots and close their snapshots', async () => {
    const store = await engine.open()
    let snapshots = 0
    const exporter = createExporter({
      ...store,
      async openSnapshot() {
        const snapshot = await store.openSnapshot()
        snapshots++
        return {
          prepareRead: snapshot.prepareRead,
          async [Symbol.asyncDispose]() {
            await snapshot[Symbol.asyncDispose]()
            snapshots--
          },
        }
      },
    })
    await storeDatabases(store, 'db')
    await createDocumentRepository(store).insert(
      { database: 'db', collection: 'large' },
      // More than the system buffers for a client that does not read.
      Array.from({ length: 240 }, (_, at) => {
        const id = String(at)
        return { id, body: JSON.stringify({ id, text: 'x'.repeat(100_000) }) }
      }),
    )
    const app = new Hono<AppEnv>().get('/', async (c) => {
      const database = { id: 'db', name: 'db' }
      const { chunks, ...end } = await exporter.beginDatabase(database, c.req.raw.signal)
      const { value: first } = await chunks.next()
      const options = { ...end, authorizedAt: performance.now(), onError: () => {} }
      const body = streamText(c, first ?? '', chunks, options)
      return c.body(body, 200, { 'Content-Type': 'application/x-ndjson' })
    })
    const client = pipeline(await serve(app), 2)
    await expect.poll(() => [exporter.running, snapshots]).toEqual([2, 2])
    client.destroy()
    await expect.poll(() => [exporter.running, snapshots]).toEqual([0, 0])
  })
})
