import { connect, createServer, type Server, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { createHttpEngine, type Door, HTTP_LIMITS, type HttpEngine } from './http-engine.ts'
import { Traffic } from './traffic.ts'

// The engine never listens; these tests prove that connections handed to it get the same care as
// those a listening server accepts itself.

const open: (() => void)[] = []
afterEach(() => {
  for (const close of open.splice(0)) close()
})

async function serve(engine: HttpEngine<Door>, door: Door): Promise<number> {
  const server: Server = createServer({ allowHalfOpen: true }, (socket) => {
    engine.serve(socket, door)
    open.push(() => socket.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  open.push(
    () => server.close(),
    () => engine.close(),
  )
  const address = server.address()
  return address !== null && typeof address === 'object' ? address.port : 0
}

/** Everything that the server says until it ends the connection. */
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

const aDoor = (): Door & { traffic: Traffic } => ({ traffic: new Traffic(), closing: false })

describe('createHttpEngine', () => {
  const short = {
    ...HTTP_LIMITS,
    headersTimeout: 200,
    bodyProgress: { bytes: 10, ms: 200 },
    connectionsCheckingInterval: 50,
  }

  it('cuts a client that does not finish its headers', async () => {
    const port = await serve(createHttpEngine(short as typeof HTTP_LIMITS), aDoor())
    const socket = connect(port, '127.0.0.1', () => socket.write('GET / HTTP/1.1\r\nHost: x\r\n'))
    expect(await untilClosed(socket)).toMatch(/^HTTP\/1\.1 408 /)
  })

  it('cuts a client whose body stalls', async () => {
    const engine = createHttpEngine(short as typeof HTTP_LIMITS)
    engine.onRequest((request) => request.resume())
    const port = await serve(engine, aDoor())
    const head = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf'
    const socket = connect(port, '127.0.0.1', () => socket.write(head))
    expect(await untilClosed(socket)).toMatch(/^HTTP\/1\.1 408 /)
  })

  it('answers 431 to headers that are too large', async () => {
    const port = await serve(createHttpEngine(), aDoor())
    const head = `GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`
    const socket = connect(port, '127.0.0.1', () => socket.write(head))
    expect(await untilClosed(socket)).toMatch(/^HTTP\/1\.1 431 /)
  })

  it('promises 10 s for headers, checked each second, and no limit for a whole request', () => {
    expect(HTTP_LIMITS).toMatchObject({
      headersTimeout: 10_000,
      requestTimeout: 0,
      connectionsCheckingInterval: 1_000,
    })
  })

  it('counts answers by status at their door', async () => {
    const engine = createHttpEngine<Door>()
    const door = aDoor()
    engine.onRequest((request, response) => {
      expect(engine.doorOf(request)).toBe(door)
      response.writeHead(request.url === '/no' ? 404 : 200).end()
    })
    const port = await serve(engine, door)
    const socket = connect(port, '127.0.0.1', () => {
      socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\nGET /no HTTP/1.1\r\nHost: x\r\n\r\n')
      socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
    })
    await untilClosed(socket)
    expect([...door.traffic.statuses]).toEqual([
      [200, 2],
      [404, 1],
    ])
    expect(door.traffic.durations.buckets.reduce((sum, count) => sum + count)).toBe(3)
  })

  it('has what follows a change wait for it, and reads no more than a little meanwhile', async () => {
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
    const socket = connect(await serve(engine, aDoor()), '127.0.0.1')
    open.push(() => socket.destroy())
    let answers = ''
    socket.on('data', (part) => {
      answers += part
    })
    const get = `GET / HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(10_000)}\r\n\r\n`
    socket.write(`${get}PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n${get.repeat(3_000)}`)
    await expect.poll(() => begun.length).toBe(2)
    await expect.poll(() => accepted?.isPaused()).toBe(true)
    // What the system itself holds for both sides is less than that.
    expect(socket.writableLength).toBeGreaterThan(10_000_000)
    expect(begun).toEqual(['GET', 'PUT'])
    end()
    await expect.poll(() => begun.length, { timeout: 10_000 }).toBe(3_002)
    await expect.poll(() => answers.split('HTTP/1.1 200').length - 1).toBe(3_002)
  })

  it('answers some reads of a client at once, and the others as those are taken', async () => {
    const engine = createHttpEngine()
    const under: (() => void)[] = []
    engine.onRequest((_request, response) => under.push(() => response.end()))
    const socket = connect(await serve(engine, aDoor()), '127.0.0.1')
    open.push(() => socket.destroy())
    let answers = ''
    socket.on('data', (part) => {
      answers += part
    })
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(25))
    await expect.poll(() => under.length).toBe(10)
    // In whatever order they are ready, for the first of them the others wait.
    for (const end of under.slice(1)) end()
    expect(under).toHaveLength(10)
    under[0]?.()
    await expect.poll(() => under.length).toBe(20)
    for (const end of under.slice(10)) end()
    await expect.poll(() => under.length).toBe(25)
    for (const end of under.slice(20)) end()
    await expect.poll(() => answers.split('HTTP/1.1 200').length - 1).toBe(25)
  })

  it('tells every client of a closing door that its connection ends', async () => {
    const engine = createHttpEngine<Door>()
    engine.onRequest((_request, response) => response.end('bye'))
    const port = await serve(engine, { ...aDoor(), closing: true })
    const socket = connect(port, '127.0.0.1', () =>
      socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'),
    )
    expect(await untilClosed(socket)).toMatch(/\r\nConnection: close\r\n[\s\S]*bye$/)
  })
})
