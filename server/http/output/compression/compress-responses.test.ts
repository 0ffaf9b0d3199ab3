import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { setImmediate as nextTurn } from 'node:timers/promises'
import zlib from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { startForTest, type TestNode } from '../../../test-support/start.testing.ts'
import { WAIT } from '../../../test-support/wait.testing.ts'
import { chooseCoding, compressResponse, MIN_COMPRESSED } from './compress-responses.ts'

/** Number of looks in a row that find nothing new when a stream has stopped. */
const QUIET = 20

const decoders = {
  zstd: zlib.zstdDecompressSync,
  br: zlib.brotliDecompressSync,
  gzip: zlib.gunzipSync,
} as const

type Known = keyof typeof decoders

interface Got {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly size: number
  readonly text: string
}

async function fetchFrom(
  port: number,
  path: string,
  headers: Record<string, string> = {},
  method = 'GET',
): Promise<Got> {
  const request = httpRequest({ port, path, method, headers, agent: false })
  request.end()
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  const body = await buffer(response)
  const coding = response.headers['content-encoding'] as Known | undefined
  const decoded = coding === undefined || body.length === 0 ? body : decoders[coding](body)
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    size: body.length,
    text: decoded.toString(),
  }
}

describe('compressResponse', () => {
  /** Serves one response by a handler that knows nothing about compression. */
  async function serve(
    handler: (response: ServerResponse) => void,
    headers: Record<string, string> = { 'Accept-Encoding': 'br' },
    places = 1,
  ) {
    let free = places
    const server = createServer((request, response) => {
      compressResponse(response, request.headers['accept-encoding'] ?? '', {
        enter: () => free > 0 && free-- > 0,
        leave: () => free++,
      })
      handler(response)
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    try {
      return { ...(await fetchFrom((server.address() as AddressInfo).port, '/', headers)), free }
    } finally {
      server.closeAllConnections()
      server.close()
    }
  }
  const json = { 'Content-Type': 'application/json', ETag: '"tag"' }
  const large = 'large '.repeat(1_000)

  it('takes no slot for a client that has disconnected', async () => {
    let held = 0
    const written = Promise.withResolvers<void>()
    const server = createServer((_, response) => {
      compressResponse(response, 'br', {
        enter: () => ++held > 0,
        leave: () => held--,
      })
      response.once('close', () => {
        response.writeHead(200, json)
        response.flushHeaders()
        response.end(large)
        written.resolve()
      })
      request.destroy()
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const request = httpRequest({ port: (server.address() as AddressInfo).port, agent: false })
    request.on('error', () => {}).end()
    await written.promise
    await nextTurn()
    expect(held).toBe(0)
    server.close()
  })

  it('compresses a body from 1 kB', async () => {
    const below = await serve((response) => {
      response.writeHead(200, json).end('x'.repeat(MIN_COMPRESSED - 1))
    })
    expect(below.headers).toMatchObject({ etag: '"tag"' })
    expect(below.headers).not.toHaveProperty('vary')
    const above = await serve((response) => {
      response.writeHead(200, json).end('ü'.repeat(MIN_COMPRESSED / 2))
    })
    expect(above.headers).toMatchObject({
      'content-encoding': 'br',
      etag: '"tag.br"',
      vary: 'Accept-Encoding',
      'content-length': String(above.size),
    })
    expect(above.text).toBe('ü'.repeat(MIN_COMPRESSED / 2))
    expect([below.free, above.free]).toEqual([1, 1])
  })

  it.each([
    ['events', { 'Content-Type': 'text/event-stream' }],
    ['pictures', { 'Content-Type': 'image/png' }],
    ['a compressed body', { ...json, 'Content-Encoding': 'zstd' }],
    ['a response with no-transform', { ...json, 'Cache-Control': 'no-store, no-transform' }],
    ['a body without a type', {}],
  ])('leaves %s unchanged', async (_, headers) => {
    const body = zlib.zstdCompressSync(large.repeat(1_000))
    const got = await serve((response) => {
      response.writeHead(200, headers)
      response.write(body)
      response.end()
    })
    expect(got.headers['content-encoding']).toBe(
      Object.entries(headers).find(([name]) => name === 'Content-Encoding')?.[1],
    )
    expect(got.headers).not.toHaveProperty('vary')
  })

  it('adds to Vary, and keeps weak tags', async () => {
    const got = await serve((response) => {
      response.writeHead(200, { ...json, vary: 'Accept', ETag: 'W/"tag"' }).end(large)
    })
    expect(got.headers).toMatchObject({ vary: 'Accept, Accept-Encoding', etag: 'W/"tag"' })
    const named = await serve((response) => {
      response.writeHead(200, { ...json, Vary: 'accept-encoding, Origin' }).end(large)
    })
    expect(named.headers.vary).toBe('accept-encoding, Origin')
  })

  it('sends large bodies uncompressed if the client accepts no coding or no slot is free', async () => {
    const handler = (response: ServerResponse) => void response.writeHead(200, json).end(large)
    const unwanted = await serve(handler, { 'Accept-Encoding': 'identity' })
    expect(unwanted.headers).toMatchObject({ vary: 'Accept-Encoding', etag: '"tag"' })
    const crowded = await serve(handler, undefined, 0)
    expect(crowded.headers).not.toHaveProperty('content-encoding')
    expect([unwanted.text, crowded.text]).toEqual([large, large])
  })

  it('leaves a response to Node.js that writes no head itself', async () => {
    const got = await serve((response) => {
      response.statusCode = 404
      response.end(large)
    })
    expect([got.status, got.text]).toEqual([404, large])
  })

  it('compresses a stream in little memory, at the speed of the client', async () => {
    // 40 MB when compressed, far more than the buffers of the sockets.
    const chunks = 2_000
    let produced = 0
    let free = 1
    const server = createServer((_, response) => {
      compressResponse(response, 'gzip', { enter: () => free-- > 0, leave: () => free++ })
      response.writeHead(200, { 'Content-Type': 'application/x-ndjson' })
      response.flushHeaders()
      Readable.from(
        (function* () {
          for (; produced < chunks; produced++) yield `${randomBytes(20_000).toString('base64')}\n`
        })(),
      ).pipe(response)
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const request = httpRequest({ port, headers: { 'Accept-Encoding': 'gzip' }, agent: false })
    request.end()
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    // The client reads nothing, so the production stops.
    const seen: number[] = []
    await vi.waitUntil(() => {
      seen.push(produced)
      return produced > 0 && seen.at(-QUIET) === produced
    }, WAIT)
    expect(produced).toBeLessThan(chunks)
    response.destroy()
    await expect.poll(() => free).toBe(1)
    server.close()
  })
})

describe('a node', () => {
  let node: TestNode
  const document = { id: 'one', text: 'large '.repeat(1_000) }

  beforeAll(async () => {
    node = await startForTest()
    await node.request('POST', '/articles', document)
    await node.request('POST', '/articles', { id: 'small' })
  })
  afterAll(() => node.stop())

  const get = (path: string, headers: Record<string, string> = {}, method?: string) =>
    fetchFrom(node.port, path, { Authorization: `Bearer ${node.token}`, ...headers }, method)

  it.each(['zstd', 'br', 'gzip'])(
    'returns documents with %s, also their pages and exports',
    async (coding) => {
      const headers = { 'Accept-Encoding': coding }
      for (const [path, vary] of [
        ['/articles/one', 'Accept, Accept-Encoding'],
        ['/articles', 'Accept, Accept-Encoding'],
        ['/_api/openapi.json', 'Accept-Encoding'],
      ] as const) {
        const plain = await get(path)
        const coded = await get(path, headers)
        expect(coded.headers).toMatchObject({ 'content-encoding': coding, vary })
        expect(coded.text).toBe(plain.text)
        expect(coded.size).toBeLessThan(plain.size / 2)
        expect(coded.headers['content-security-policy']).toBe(
          plain.headers['content-security-policy'],
        )
      }
      const exported = await get('/articles', { ...headers, Accept: 'application/x-ndjson' })
      expect(exported.headers).toMatchObject({
        'content-encoding': coding,
        vary: 'Accept, Accept-Encoding',
      })
      expect(exported.text).toBe(`${JSON.stringify(document)}\n{"id":"small"}\n`)
      expect((await get('/articles/small', headers)).headers).not.toHaveProperty('content-encoding')
    },
  )

  it('accepts the tag of a compressed response in conditions', async () => {
    const coded = await get('/articles/one', { 'Accept-Encoding': 'gzip' })
    const etag = coded.headers.etag ?? ''
    expect(etag).toMatch(/^"[\w-]{12}\.gzip"$/)
    for (const accepted of ['gzip', 'br', 'identity']) {
      const headers = { 'Accept-Encoding': accepted, 'If-None-Match': `"x", ${etag}` }
      const same = await get('/articles/one', headers)
      expect([same.status, same.headers.etag]).toEqual([304, etag])
      expect(same.headers.vary).toBe('Accept, Accept-Encoding')
    }
    const plain = await get('/articles/one')
    expect(`${plain.headers.etag?.slice(0, -1)}.gzip"`).toBe(etag)
    const changed = await node.request(
      'PATCH',
      '/articles/one',
      { n: 1 },
      { headers: { 'If-Match': etag } },
    )
    expect(changed.status).toBe(200)
    const late = await node.request(
      'PATCH',
      '/articles/one',
      { n: 2 },
      { headers: { 'If-Match': etag } },
    )
    expect(late.status).toBe(412)
  })

  it('does not compress the pages of a sign-in', async () => {
    const coded = { 'Accept-Encoding': 'gzip', Accept: 'text/html' }
    const page = await get('/_idp/none', { ...coded, Host: '127.0.0.1' })
    expect(page.text.length).toBeGreaterThan(MIN_COMPRESSED)
    expect(page.headers).not.toHaveProperty('content-encoding')
    const other = await get('/none/none', { ...coded, Host: '127.0.0.1' })
    expect(other.headers).toHaveProperty('content-encoding', 'gzip')
  })

  it('announces the coding for HEAD', async () => {
    const head = await get('/articles', { 'Accept-Encoding': 'br' }, 'HEAD')
    const page = await get('/articles', { 'Accept-Encoding': 'br' })
    expect(head.headers).toMatchObject({ 'content-encoding': 'br', etag: page.headers.etag })
    expect(head.headers).not.toHaveProperty('content-length')
  })
})

it.each([
  ['gzip, deflate, br, zstd', 'zstd'],
  ['gzip, deflate, br', 'br'],
  ['gzip, deflate', 'gzip'],
  ['GZIP', 'gzip'],
  ['*', 'zstd'],
  ['zstd;q=0, *', 'br'],
  ['zstd;q=0.1, br;q=0.2, gzip;q=0.9', 'gzip'],
  ['gzip;q=0.5, identity;q=0.5', 'gzip'],
  ['gzip;q=0.5, identity', undefined],
  ['gzip;q=0', undefined],
  ['*;q=0', undefined],
  ['identity;q=0', undefined],
  ['deflate, compress', undefined],
  ['', undefined],
  [',,;q=,=;"', undefined],
])('for %j chooses %s', (header, coding) => {
  expect(chooseCoding(header)).toBe(coding)
})
