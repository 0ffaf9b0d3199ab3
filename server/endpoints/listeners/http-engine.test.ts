import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { connect as connectTls, createServer as createTlsServer } from 'node:tls'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { SHARE } from '../../concurrency/turn-share.ts'
import { Traffic } from '../traffic.ts'
import { printClientError } from './connections/client-error.ts'
import { ResponseBudget } from './connections/response-budget.ts'
import {
  type ConnectionOwner,
  createHttpEngine,
  HTTP_LIMITS,
  type HttpEngine,
  type HttpLimits,
} from './http-engine.ts'

// The engine never listens. These tests check that it treats connections passed to it like those
// that a listening server accepts itself.

const open: (() => void)[] = []
afterEach(() => {
  for (const close of open.splice(0)) close()
})

function serve(engine: HttpEngine<ConnectionOwner>, owner: ConnectionOwner): Promise<number> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    engine.serve(socket, owner)
    open.push(() => socket.destroy())
  })
  return listen(server, engine)
}

/** Listens on a free port until the end of the test. Returns the port. */
async function listen(server: Server, engine: HttpEngine<ConnectionOwner>): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  open.push(
    () => server.close(),
    () => engine.close(),
  )
  const address = server.address()
  return address !== null && typeof address === 'object' ? address.port : 0
}

/** Returns everything the server sends until it closes the connection. */
const untilClosed = (socket: Socket) =>
  new Promise<string>((resolve, reject) => {
    let read = ''
    socket.setEncoding('latin1')
    socket.on('data', (part) => {
      read += part
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(read))
  })

const statuses = (responses: string) => responses.match(/(?<=^HTTP\/1\.1 )\d+/gm)

const get = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'
const last = 'GET /last HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'
const post = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n'
const chunked = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n'
const malformed = 'malformed\r\n\r\n'

const createOwner = (): ConnectionOwner & { traffic: Traffic } => ({
  traffic: new Traffic(),
  closing: false,
})

describe('createHttpEngine', () => {
  const short = {
    ...HTTP_LIMITS,
    headersTimeout: 200,
    bodyProgress: { bytes: 10, ms: 200 },
    connectionsCheckingInterval: 50,
  }

  it('disconnects a client that does not finish its headers', async () => {
    const port = await serve(createHttpEngine(short), createOwner())
    const socket = connect(port, '127.0.0.1', () => socket.write('GET / HTTP/1.1\r\nHost: x\r\n'))
    expect(await untilClosed(socket)).toMatch(/^HTTP\/1\.1 408 /)
  })

  it('disconnects a client whose body stalls', async () => {
    const engine = createHttpEngine(short)
    engine.onRequest((request) => request.resume())
    const port = await serve(engine, createOwner())
    const head = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf'
    const socket = connect(port, '127.0.0.1', () => socket.write(head))
    expect(await untilClosed(socket)).toMatch(/^HTTP\/1\.1 408 /)
  })

  describe('after a malformed request of a client that does not close the connection', () => {
    const incomplete = 'GET / HTTP/1.1\r\nHost: x\r\n'
    const file = (name: string) =>
      readFileSync(join(import.meta.dirname, '../registry/testdata', name))
    const certificate = { cert: file('first.cert.pem'), key: file('first.key.pem') }

    /** Creates an engine, and a client that sends `text` and never ends its side. */
    async function send(text: string, over: 'tcp' | 'ssl', limits: HttpLimits) {
      const engine = createHttpEngine(limits)
      const handled: (string | undefined)[] = []
      engine.onRequest((request) => {
        handled.push(request.url)
        request.resume()
      })
      const options = { allowHalfOpen: true }
      const tls = over === 'ssl' && createTlsServer({ ...options, ...certificate })
      const server = tls || createServer(options)
      const accepted = once(server, tls ? 'secureConnection' : 'connection')
      const address = { ...options, host: '127.0.0.1', port: await listen(server, engine) }
      const client = tls ? connectTls({ ...address, ca: certificate.cert }) : connect(address)
      const [socket] = (await accepted) as [Socket]
      open.push(
        () => client.destroy(),
        () => socket.destroy(),
      )
      engine.serve(socket, createOwner())
      let received = ''
      client
        .on('error', () => {})
        .on('data', (part) => {
          received += part
        })
      client.write(text)
      return { client, socket, handled, received: () => received }
    }

    it.each(
      (['tcp', 'ssl'] as const).flatMap((over) => [
        [over, 'no bytes', '', 408] as const,
        [over, 'an incomplete head', incomplete, 408] as const,
        [over, 'a malformed request line', malformed, 400] as const,
        [over, 'a malformed chunk', `${chunked}ZZ\r\n`, 400] as const,
        [over, 'a large trailer', `${chunked}0\r\nX: ${'x'.repeat(20_000)}\r\n`, 431] as const,
      ]),
    )('closes the connection over %s: %s', async (over, _, text, status) => {
      const { socket, received } = await send(text, over, short)
      await once(socket, 'close')
      await expect.poll(() => statuses(received())).toEqual([String(status)])
    })

    it('reads what the client still sends, so that the response is not lost', async () => {
      const unchecked = { ...HTTP_LIMITS, connectionsCheckingInterval: 600_000 }
      const { client, socket, received } = await send(`${chunked}ZZ\r\n`, 'tcp', unchecked)
      await expect.poll(() => statuses(received())).toEqual(['400'])
      const before = socket.bytesRead
      client.write('x'.repeat(1_000))
      await expect.poll(() => socket.bytesRead - before).toBe(1_000)
      expect(socket.destroyed).toBe(false)
    })

    it('handles no request that the client completes after the response', async () => {
      const slowly = { ...short, connectionsCheckingInterval: 500 }
      const { client, socket, handled, received } = await send(incomplete, 'tcp', slowly)
      await expect.poll(() => statuses(received())).toEqual(['408'])
      client.write('\r\n')
      await once(socket, 'close')
      expect(handled).toEqual([])
    })
  })

  it('returns a page for 431 also if the packet has only a part of the cookies', () => {
    const overflow = (packet: string) =>
      printClientError(
        Object.assign(new Error(), {
          code: 'HPE_HEADER_OVERFLOW',
          rawPacket: Buffer.from(packet),
        }),
      )
    expect(overflow('345; session=0123; theme=dark; id=6')).toContain('Delete the cookies')
    expect(overflow('x'.repeat(100))).not.toContain('Delete the cookies')
  })

  it('returns 431 for headers that are too large', async () => {
    const port = await serve(createHttpEngine(), createOwner())
    const head = `GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`
    const socket = connect(port, '127.0.0.1', () => socket.write(head))
    expect(await untilClosed(socket)).toMatch(/^HTTP\/1\.1 431 /)
  })

  it('allows 10 s for headers, checked each second, and sets no limit for a whole request', () => {
    expect(HTTP_LIMITS).toMatchObject({
      headersTimeout: 10_000,
      requestTimeout: 0,
      connectionsCheckingInterval: 1_000,
    })
  })

  it('counts responses by status at their owner', async () => {
    const engine = createHttpEngine<ConnectionOwner>()
    const owner = createOwner()
    engine.onRequest((request, response) => {
      expect(engine.ownerOf(request)).toBe(owner)
      response.writeHead(request.url === '/no' ? 404 : 200).end()
    })
    const port = await serve(engine, owner)
    const socket = connect(port, '127.0.0.1', () => {
      socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\nGET /no HTTP/1.1\r\nHost: x\r\n\r\n')
      socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
    })
    await untilClosed(socket)
    expect([...owner.traffic.statuses]).toEqual([
      [200, 2],
      [404, 1],
    ])
    expect(owner.traffic.durations.buckets.reduce((sum, count) => sum + count)).toBe(3)
  })

  it('sends the responses of a turn after all its requests were handled', async () => {
    const engine = createHttpEngine()
    const events: string[] = []
    engine.onRequest((request, response) => {
      events.push(`request ${request.url}`)
      response.on('finish', () => events.push(`response ${request.url}`))
      response.end()
    })
    const port = await serve(engine, createOwner())
    const connected = ['/1', '/2'].map(async (path) => {
      const socket = connect(port, '127.0.0.1')
      open.push(() => socket.destroy())
      await once(socket, 'connect')
      return () => socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`)
    })
    const requests = await Promise.all(connected)
    // Both sockets of the server exist before the requests are sent in one turn.
    await expect.poll(() => open.length).toBe(6)
    for (const request of requests) request()
    await expect.poll(() => events.length).toBe(4)
    const byKind = events.map((event) => event.split(' ')[0])
    expect(byKind).toEqual(['request', 'request', 'response', 'response'])
  })

  /**
   * Sends requests for these paths in one turn, over a connection for each list. Each takes a whole
   * share. Returns the paths that the engine has handled.
   */
  async function sendTogether(lists: readonly (readonly string[])[]) {
    const engine = createHttpEngine()
    let time = performance.now()
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => time)
    open.push(() => clock.mockRestore())
    const handled: string[] = []
    engine.onRequest((request, response) => {
      time += SHARE
      handled.push(request.url ?? '')
      response.end()
    })
    const port = await serve(engine, createOwner())
    const before = open.length
    const connected = lists.map(async (paths) => {
      const socket = connect(port, '127.0.0.1')
      open.push(() => socket.destroy())
      await once(socket, 'connect')
      return () => socket.write(paths.map((path) => get.replace('/', path)).join(''))
    })
    const requests = await Promise.all(connected)
    // Each connection has a socket of the client and one of the server.
    await expect.poll(() => open.length).toBe(before + 2 * lists.length)
    for (const request of requests) request()
    return handled
  }

  it.each([
    ['data', '/articles', '/_api/health'],
    ['data', '/articles', '/healthz/live'],
    ['data', '/articles', '/_api/session'],
    ['data', '/articles', '/_console/'],
    ['data', '/articles', '/_db/blog/healthz'],
    ['data', '/articles', '/_db/_system/_api/session'],
    ['data', '/_db/blog/articles', '/_db/_system/_api/session'],
    ['administration', '/_api/openapi.json', '/_api/health'],
    ['administration', '/_api/openapi.json', '/articles'],
    ['data', '/healthz/../articles', '/_api/session'],
    ['data', '/_api/%2E%2e/articles', '/_api/session'],
    ['administration', '/_db/_system/_api/endpoint', '/_db/blog/_api/health'],
  ])('requests for %s that arrive together do not delay others: %s, %s', async (_, path, other) => {
    const handled = await sendTogether([[path], [path], [path], [other]])
    await expect.poll(() => handled).toEqual([path, other, path, path])
  })

  it('pipelined health checks do not delay those of other clients', async () => {
    const handled = await sendTogether([['/healthz?1', '/healthz?2', '/healthz?3'], ['/healthz']])
    await expect.poll(() => handled).toEqual(['/healthz?1', '/healthz?2', '/healthz', '/healthz?3'])
  })

  it('stops reading after the read in which the limit of queued requests is reached', async () => {
    const engine = createHttpEngine()
    let accepted: Socket | undefined
    engine.onRequest(({ socket }) => {
      accepted = socket
    })
    const client = connect(await serve(engine, createOwner()), '127.0.0.1')
    open.push(() => client.destroy())
    client.write(get.repeat(500_000))
    await expect.poll(() => accepted?.isPaused()).toBe(true)
    // Node.js reads at most 64 KiB at once.
    const limit = 100 * get.length + 64 * 1024
    expect(accepted?.bytesRead).toBeLessThan(limit)
    // Node.js does so when the client has read responses.
    accepted?.resume()
    await new Promise(setImmediate)
    expect(accepted?.isPaused()).toBe(true)
    await new Promise(setImmediate)
    expect(accepted?.bytesRead).toBeLessThan(limit)
  })

  it('handles no request whose client disconnects while it waits', async () => {
    const engine = createHttpEngine()
    let time = performance.now()
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => time)
    open.push(() => clock.mockRestore())
    const handled: string[] = []
    let disconnect = () => {}
    engine.onRequest((request, response) => {
      time += SHARE
      handled.push(request.url ?? '')
      if (handled.length === 1) disconnect()
      response.end()
    })
    const server = createServer((socket) => {
      engine.serve(socket, createOwner())
      disconnect = () => socket.destroy()
    })
    const port = await listen(server, engine)
    const socket = connect(port, '127.0.0.1', () => socket.write(get.repeat(3)))
    await untilClosed(socket)
    const next = connect(port, '127.0.0.1', () => next.write(last))
    await untilClosed(next)
    expect(handled).toEqual(['/', '/last'])
  })

  it.each([
    ['a request', 1, get, malformed],
    ['more reads than run concurrently', 12, get, malformed],
    ['changes, which run one after another,', 3, post, malformed],
    ['requests (its body is malformed)', 2, get, chunked + malformed],
  ])('responds to %s before a malformed one', async (_, times, request, last) => {
    const engine = createHttpEngine()
    engine.onRequest((request, response) => {
      request.resume().on('end', () => setImmediate(() => response.end()))
    })
    const port = await serve(engine, createOwner())
    const socket = connect(port, '127.0.0.1', () => socket.write(request.repeat(times) + last))
    expect(statuses(await untilClosed(socket))).toEqual([...Array(times).fill('200'), '400'])
  })

  it('processes no request after the last response of a connection', async () => {
    const engine = createHttpEngine()
    const begun: (string | undefined)[] = []
    engine.onRequest((request, response) => {
      begun.push(request.url)
      setImmediate(() => response.writeHead(400, { Connection: 'close' }).end())
    })
    const port = await serve(engine, createOwner())
    const socket = connect(port, '127.0.0.1', () => socket.write(get + post.replace('/', '/after')))
    expect(statuses(await untilClosed(socket))).toEqual(['400'])
    expect(begun).toEqual(['/'])
  })

  describe('ignores that a request asks for another protocol', () => {
    const upgrade = (line: string, more: string, body = '') =>
      `${line} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n${more}\r\n${body}`
    /** Creates a client of an engine that sends the target of each request. */
    async function connected() {
      const engine = createHttpEngine()
      const handled: (string | undefined)[] = []
      engine.onRequest((request, response) => {
        handled.push(request.url)
        request.resume().on('end', () => response.end(`<${request.url}>`))
      })
      const socket = connect(await serve(engine, createOwner()), '127.0.0.1')
      return { socket, handled }
    }
    const echoes = (text: string) => text.match(/(?<=<)[^>]*/g)

    it.each([
      ['GET', upgrade('GET /1', ''), ['/1']],
      ['POST', upgrade('POST /1', 'Content-Length: 3\r\n', 'abc'), ['/1']],
      ['chunked', upgrade('PUT /1', 'Transfer-Encoding: chunked\r\n', '0\r\n\r\n'), ['/1']],
      ['pipelined', get + upgrade('GET /1', ''), ['/', '/1']],
    ])('and closes the connection before requests behind it: %s', async (_, text, expected) => {
      const { socket, handled } = await connected()
      socket.write(text + get.replace('/', '/2') + get.replace('/', '/3'))
      const received = await untilClosed(socket)
      expect(echoes(received)).toEqual(expected)
      expect(received.match(/Connection: close/g)).toHaveLength(1)
      expect(handled).toEqual(expected)
    })

    it('and keeps the connection of a client that sends one request at a time', async () => {
      const { socket } = await connected()
      let received = ''
      socket.setEncoding('latin1').on('data', (part: string) => {
        received += part
      })
      for (const path of ['/1', '/2']) {
        socket.write(upgrade(`GET ${path}`, ''))
        await expect.poll(() => received).toContain(`<${path}>`)
      }
      socket.write(last)
      await once(socket, 'close')
      expect(echoes(received)).toEqual(['/1', '/2', '/last'])
    })
  })

  it('responds over TLS to a client that ends its side after the request', async () => {
    const engine = createHttpEngine()
    engine.onRequest((_request, response) => response.end('answer'))
    const file = (name: string) =>
      readFileSync(join(import.meta.dirname, '../registry/testdata', name))
    const cert = file('first.cert.pem')
    const options = { allowHalfOpen: true, cert, key: file('first.key.pem') }
    const server = createTlsServer(options, (socket) => engine.serve(socket, createOwner()))
    const socket = connectTls(
      { port: await listen(server, engine), host: '127.0.0.1', ca: cert },
      () => socket.end('GET / HTTP/1.1\r\nHost: x\r\n\r\n'),
    )
    expect(await untilClosed(socket)).toMatch(/answer$/)
  })

  it('sends pipelined responses to a client that has ended its side', async () => {
    const engine = createHttpEngine()
    engine.onRequest((request, response) => {
      if (request.url === '/1') setImmediate(() => response.end())
      else response.end()
    })
    const port = await serve(engine, createOwner())
    // A request that waits for a later turn would get no response.
    const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now())
    open.push(() => clock.mockRestore())
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }, () =>
      socket.end(['/1', '/2'].map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`).join('')),
    )
    expect((await untilClosed(socket)).split('HTTP/1.1 200')).toHaveLength(3)
  })

  it('delays requests after a change until it has ended, and reads little ahead', async () => {
    const engine = createHttpEngine()
    const begun: string[] = []
    let end = () => {}
    let accepted: Socket | undefined
    engine.onRequest((request, response) => {
      accepted = request.socket
      begun.push(request.method ?? '')
      if (request.method === 'GET') response.end()
      else end = () => response.end()
    })
    const socket = connect(await serve(engine, createOwner()), '127.0.0.1')
    open.push(() => socket.destroy())
    let answers = ''
    socket.on('data', (part) => {
      answers += part
    })
    const get = `GET / HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(10_000)}\r\n\r\n`
    socket.write(`${get}PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n${get.repeat(3_000)}`)
    await expect.poll(() => begun.length).toBe(2)
    await expect.poll(() => accepted?.isPaused()).toBe(true)
    // More than the socket buffers of both sides can hold.
    expect(socket.writableLength).toBeGreaterThan(10_000_000)
    expect(begun).toEqual(['GET', 'PUT'])
    end()
    await expect.poll(() => begun.length).toBe(3_002)
    await expect.poll(() => answers.split('HTTP/1.1 200').length - 1).toBe(3_002)
  })

  it('runs some reads of a client concurrently, and the others as responses are read', async () => {
    const engine = createHttpEngine()
    const under: (() => void)[] = []
    engine.onRequest((_request, response) => under.push(() => response.end()))
    const socket = connect(await serve(engine, createOwner()), '127.0.0.1')
    open.push(() => socket.destroy())
    let answers = ''
    socket.on('data', (part) => {
      answers += part
    })
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(25))
    await expect.poll(() => under.length).toBe(10)
    // Responses are sent in order, so the others wait for the first.
    for (const end of under.slice(1)) end()
    expect(under).toHaveLength(10)
    under[0]?.()
    await expect.poll(() => under.length).toBe(20)
    for (const end of under.slice(10)) end()
    await expect.poll(() => under.length).toBe(25)
    for (const end of under.slice(20)) end()
    await expect.poll(() => answers.split('HTTP/1.1 200').length - 1).toBe(25)
  })

  describe('with responses that clients do not read', () => {
    const quick = { ...HTTP_LIMITS, sendTimeout: 200, connectionsCheckingInterval: 10 }
    const MIB = 2 ** 20

    /** Creates an engine and a paused client that sends some requests. */
    async function pipeline(
      limit: number,
      requests: number,
      handle: (response: ServerResponse, engine: HttpEngine<ConnectionOwner>) => unknown,
      limits: HttpLimits = HTTP_LIMITS,
    ) {
      const engine = createHttpEngine(limits, new ResponseBudget(limit))
      engine.onRequest((_request, response) => void handle(response, engine))
      const socket = connect(await serve(engine, createOwner()), '127.0.0.1')
      open.push(() => socket.destroy())
      socket.pause().write(get.repeat(requests))
      return { engine, socket }
    }

    it('counts their bytes until they are read or the connection is closed', async () => {
      let answered = 0
      const { engine, socket } = await pipeline(1_000 * MIB, 3, (response) => {
        answered++
        response.end(Buffer.alloc(20 * MIB))
      })
      await expect.poll(() => answered).toBe(1)
      expect(engine.unsent).toBeGreaterThan(5 * MIB)
      socket.resume()
      await expect.poll(() => answered).toBe(3)
      await expect.poll(() => engine.unsent).toBe(0)
      socket.pause().write(get.repeat(3))
      await expect.poll(() => engine.unsent).toBeGreaterThan(5 * MIB)
      socket.destroy()
      await expect.poll(() => engine.unsent).toBe(0)
    })

    it('starts no further request of the connection beyond 1 MiB', async () => {
      let answered = 0
      const { socket } = await pipeline(1_000 * MIB, 30, (response) => {
        answered++
        response.end(Buffer.alloc(answered === 1 ? 20 * MIB : 0.3 * MIB))
      })
      await expect.poll(() => answered).toBe(1)
      socket.resume()
      await expect.poll(() => answered).toBe(30)
    })

    it('prepares one response ahead, and others when the connection has room', async () => {
      const reserved: number[] = []
      const end: (() => void)[] = []
      const { engine, socket } = await pipeline(1_000 * MIB, 4, async (response, engine) => {
        const n = end.push(() => response.end()) - 1
        // Wait until all requests have started before the first reserves memory.
        await new Promise(setImmediate)
        await engine.reserve(response, 10 * MIB)
        reserved.push(n)
      })
      socket.resume()
      await expect.poll(() => end.length).toBe(4)
      expect([reserved, engine.unsent]).toEqual([[0], 10 * MIB])
      end[0]?.()
      await expect.poll(() => reserved).toEqual([0, 1])
      for (const each of end) each()
      await expect.poll(() => reserved).toEqual([0, 1, 2, 3])
      await expect.poll(() => engine.unsent).toBe(0)
    })

    it('rejects a waiting response when the client disconnects', async () => {
      const failures: unknown[] = []
      const { engine, socket } = await pipeline(1_000 * MIB, 2, async (response, engine) => {
        await new Promise(setImmediate)
        await engine.reserve(response, 10 * MIB)?.catch((error) => failures.push(error))
      })
      await expect.poll(() => engine.unsent).toBe(10 * MIB)
      socket.destroy()
      await expect.poll(() => failures).toMatchObject([{ code: 'unavailable' }])
      expect(engine.unsent).toBe(0)
    })

    it("rejects responses beyond the node's budget, unless nothing else is held", async () => {
      let first: ServerResponse | undefined
      const { engine } = await pipeline(8 * MIB, 1, async (response, engine) => {
        first = Object.assign(response, { isAdministration: false })
        await engine.reserve(response, 6 * MIB)
      })
      await expect.poll(() => engine.unsent).toBe(6 * MIB)
      expect(() => engine.requireAvailable(first)).toThrow(
        'Clients have not yet read 6 MiB of responses. This node buffers at most 6 MiB. ' +
          'Try again in 5 s.',
      )
      await expect(async () => engine.reserve(first, 7 * MIB)).rejects.toMatchObject({
        code: 'unavailable',
        headers: { 'Retry-After': '5' },
      })
      await engine.reserve(first, 3 * MIB)
      expect(engine.unsent).toBe(3 * MIB)
      engine.requireAvailable(first)
    })

    it('disconnects the client that has read nothing for the longest, and serves others', async () => {
      const engine = createHttpEngine(HTTP_LIMITS, new ResponseBudget(90 * MIB))
      const body = Buffer.alloc(40 * MIB)
      const sockets: Socket[] = []
      engine.onRequest(({ socket }, response) => {
        sockets.push(socket)
        response.end(body)
      })
      const port = await serve(engine, createOwner())
      const send = async () => {
        const { length } = sockets
        const client = connect(port, '127.0.0.1').pause()
        open.push(() => client.destroy())
        client.write(get)
        await expect.poll(() => sockets.length).toBe(length + 1)
      }
      for (let n = 0; n < 2; n++) await send()
      const isClosed = () => sockets.map(({ destroyed }) => destroyed)
      expect(isClosed()).toEqual([false, false])
      await send()
      expect(isClosed()).toEqual([true, false, false])
      expect(engine.unsent).toBeLessThan(90 * MIB)
      for (const close of open.splice(0)) close()
      await expect.poll(() => engine.unsent).toBe(0)
    })

    it('disconnects a client that reads nothing for the time limit', async () => {
      const { engine } = await pipeline(
        1_000 * MIB,
        1,
        (response) => response.end(Buffer.alloc(20 * MIB)),
        quick,
      )
      await expect.poll(() => engine.unsent).toBeGreaterThan(5 * MIB)
      await expect.poll(() => engine.unsent).toBe(0)
    })

    it('keeps a client that reads slowly and one whose response is late', async () => {
      // The system accepts more bytes only after about 20 reads. On a busy machine, there is one
      // read per check, so the limit is 200 checks.
      const slow = { ...quick, sendTimeout: 1_000, connectionsCheckingInterval: 5 }
      const { socket } = await pipeline(
        1_000 * MIB,
        2,
        async (response) => {
          await new Promise((resolve) => setTimeout(resolve, 1.5 * slow.sendTimeout))
          response.end(Buffer.alloc(20 * MIB))
        },
        slow,
      )
      let received = 0
      socket.on('data', (part) => {
        received += part.length
        socket.pause()
        setTimeout(() => socket.resume(), 3)
      })
      socket.resume()
      await expect.poll(() => received).toBeGreaterThan(40 * MIB)
    })
  })

  it('announces the end of the connection to every client of a closing owner', async () => {
    const engine = createHttpEngine<ConnectionOwner>()
    engine.onRequest((_request, response) => response.end('bye'))
    const port = await serve(engine, { ...createOwner(), closing: true })
    const socket = connect(port, '127.0.0.1', () =>
      socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'),
    )
    expect(await untilClosed(socket)).toMatch(/\r\nConnection: close\r\n[\s\S]*bye$/)
  })
})
