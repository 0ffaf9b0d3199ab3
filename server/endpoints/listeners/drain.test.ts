import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Config } from '../../cli/config.ts'
import type { ListenerStatus } from '../../contract/endpoints/listener.ts'
import {
  killProcesses,
  type ServerProcess,
  startProcess,
} from '../../test-support/server-process.testing.ts'
import {
  endpointPath,
  makeToken,
  sendRequest,
  startForTest,
  type TestNode,
} from '../../test-support/start.testing.ts'
import { canListen, freePorts } from './free-ports.testing.ts'
import { KeepAliveClient, openClients, Reset } from './keep-alive-client.testing.ts'

const beginWorking = () =>
  'POST /_api/database HTTP/1.1\r\nHost: localhost\r\n' +
  `Authorization: Bearer ${token}\r\nContent-Length: 16\r\n\r\n{"name":`

/** Longer than a test may take: a test that waited for the end of the drain time would fail, ms. */
const LONGER_THAN_TEST = 600_000

let folder: string
/** API token of the last started server. */
let token: string
const clients: KeepAliveClient[] = []

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-drain-'))
})

afterEach(async () => {
  for (const client of clients.splice(0)) client.leave()
  await killProcesses()
  rmSync(folder, { recursive: true, force: true })
})

/** Opens connections that are closed when the test ends. */
async function open(count: number, port: number): Promise<KeepAliveClient[]> {
  const opened = await openClients(count, { port })
  clients.push(...opened)
  return opened
}

const openOne = async (port: number) => (await open(1, port))[0] as KeepAliveClient

/** Opens a connection with a request in progress: half of its body is not sent yet. */
async function openWorking(port: number): Promise<KeepAliveClient> {
  const client = await openOne(port)
  await client.sendPart(beginWorking())
  return client
}

/** Sends the rest of the body; the request creates a database. */
const finishWorking = (client: KeepAliveClient, name: string) => client.request(`"${name}"}`)

const connectionRefused = (port: number) =>
  KeepAliveClient.open({ port }).then(
    (client) => {
      client.leave()
      return 'accepted'
    },
    (error: NodeJS.ErrnoException) => error.code,
  )

interface RealServer extends ServerProcess {
  readonly port: number
  add(port: number): Promise<void>
  remove(port: number): Promise<void>
}

/** Starts a server in its own process, so that neither side blocks the other's event loop. */
async function startReal(...flags: string[]): Promise<RealServer> {
  const [port = 0] = await freePorts(1)
  const endpoint = `tcp://127.0.0.1:${port}`
  const server = await startProcess(['--data', folder, '--endpoint', endpoint, ...flags])
  token = await makeToken({ data: folder, databaseUrl: undefined })
  const headers = { Authorization: `Bearer ${token}` }
  const expectDone = async (answer: ReturnType<typeof sendRequest>) =>
    expect((await answer).json).toEqual({ result: true, error: false, code: 200 })
  return {
    ...server,
    port,
    add: (other) =>
      expectDone(
        sendRequest(port, 'POST', '/_api/endpoint', {
          body: { endpoint: `tcp://127.0.0.1:${other}`, databases: [] },
          headers,
        }),
      ),
    remove: (other) =>
      expectDone(
        sendRequest(port, 'DELETE', endpointPath(`tcp://127.0.0.1:${other}`), { headers }),
      ),
  }
}

describe('busy connections', () => {
  test('of one endpoint are not affected while 50 others are added and removed', async () => {
    const server = await startReal()
    const [busy = 0, ...others] = await freePorts(51)
    await server.add(busy)
    const workers = await open(32, busy)
    const sockets = workers.map(({ socket }) => socket.localPort)
    let done = false
    const work = Promise.all(workers.map((client) => client.keepBusy({ until: () => done })))

    // Ten at a time; each is used once and removed with an open connection that it must drain.
    const each = async (port: number) => {
      await server.add(port)
      const visitor = await openOne(port)
      expect((await visitor.request()).status).toBe(200)
      await server.remove(port)
      expect(await connectionRefused(port)).toBe('ECONNREFUSED')
    }
    const queue = [...others]
    await Promise.all(
      Array.from({ length: 10 }, async () => {
        for (let port = queue.pop(); port !== undefined; port = queue.pop()) await each(port)
      }),
    )
    const answers = workers.map(({ answered }) => answered)
    await expect
      .poll(() => workers.every(({ answered }, at) => answered > (answers[at] ?? 0)))
      .toBe(true)
    done = true
    await work
    // No connection was closed or replaced.
    expect(workers.map(({ ending }) => ending)).toEqual(workers.map(() => undefined))
    expect(workers.map(({ socket }) => socket.localPort)).toEqual(sockets)
    for (const count of answers) expect(count).toBeGreaterThan(10)
  })

  test('of a removed endpoint are told to close without a reset, and none is served afterwards', async () => {
    const server = await startReal('--drain', '600')
    const [port = 0] = await freePorts(1)
    await server.add(port)
    const endpoint = `tcp://127.0.0.1:${port}`
    const headers = { Authorization: `Bearer ${token}` }
    const listeners = async (): Promise<ListenerStatus[]> =>
      (await sendRequest(server.port, 'GET', '/_api/listener', { headers })).json
    const workers = await open(128, port)
    const work = Promise.all(workers.map((client) => client.keepBusy()))
    await expect.poll(() => Math.min(...workers.map(({ answered }) => answered))).toBeGreaterThan(3)
    const working = await open(128, port)
    // The response to the first request shows that the server has read the second one.
    const twice = `GET /_api/health HTTP/1.1\r\nHost: localhost\r\n\r\n${beginWorking()}`
    await Promise.all(working.map((client) => client.request(twice)))
    // A request that does not finish, so the drain lasts.
    const slow = await openWorking(port)

    await server.remove(port)
    expect(await connectionRefused(port)).toBe('ECONNREFUSED')
    expect(await canListen(port, '127.0.0.1')).toBe(true)

    // Each connection is closed after the response to the request in progress.
    const invalidName = '"     "}'
    const answers = await Promise.all(working.map((client) => client.request(invalidName)))
    for (const answer of answers) expect(answer).toMatchObject({ status: 400, close: true })
    const endings = await Promise.all(working.map(({ ended }) => ended))
    expect(new Set(endings)).toEqual(new Set(['told']))
    // A connection that this process leaves without a request for a second is closed in between.
    await work
    for (const { ending } of workers) expect(['told', 'between']).toContain(ending)

    // The drain goes on.
    expect(slow.ending).toBeUndefined()
    const close = `/_api/listener/${encodeURIComponent(endpoint)}/close`
    expect((await sendRequest(server.port, 'POST', close, { headers })).status).toBe(200)
    expect(await slow.ended).toBe('reset')
    await expect.poll(listeners).toHaveLength(1)
  })
})

describe('a removed endpoint', () => {
  let node: TestNode
  let port: number
  let address: string

  async function start(settings: Partial<Config>): Promise<void> {
    ;[port = 0] = await freePorts(1)
    address = `tcp://127.0.0.1:${port}`
    node = await startForTest(settings)
    token = node.token
    await add()
  }

  const add = async () =>
    expect(
      (await node.request('POST', '/_api/endpoint', { endpoint: address, databases: [] })).status,
    ).toBe(200)
  const remove = async () =>
    expect((await node.request('DELETE', endpointPath(address))).status).toBe(200)
  const listeners = async (): Promise<ListenerStatus[]> =>
    (await node.request('GET', '/_api/listener')).json.filter(
      ({ endpoint }: ListenerStatus) => endpoint === address,
    )

  afterEach(async () => {
    for (const client of clients) client.leave()
    await node.stop()
  })

  test('lets a slow request finish within the grace time', async () => {
    await start({ drain: LONGER_THAN_TEST })
    const slow = await openWorking(port)
    await expect.poll(async () => (await listeners())[0]?.connections).toBe(1)
    const idle = await openOne(port)
    await remove()
    // The idle connection is closed first; the busy one is still open.
    await idle.ended
    expect(await finishWorking(slow, 'slow1')).toMatchObject({ status: 201, close: true })
    expect(await slow.ended).toBe('told')
    await expect.poll(listeners).toEqual([])
  })

  test('disconnects a slow request after the grace time', async () => {
    await start({ drain: 5_000 })
    const slow = await openWorking(port)
    const silent = await openWorking(port)
    await remove()
    const [draining] = await listeners()
    expect(draining).toMatchObject({ state: 'draining', connections: 2 })
    const { since, drainUntil } = draining as ListenerStatus
    expect(Date.parse(String(drainUntil)) - Date.parse(since)).toBe(5_000)
    expect(await slow.ended).toBe('reset')
    await expect(finishWorking(silent, 'slow2')).rejects.toThrow(Reset)
    await expect.poll(listeners).toEqual([])
  })

  test('finishes a request whose head is incomplete', async () => {
    await start({ drain: LONGER_THAN_TEST })
    const half = await openOne(port)
    await half.request()
    await half.sendPart('GET /_api/health HTTP/1.1\r\nHo')
    const idle = await openOne(port)
    await remove()
    await idle.ended
    expect(await half.request('st: localhost\r\n\r\n')).toMatchObject({ status: 200, close: true })
    expect(await half.ended).toBe('told')
  })

  test('closes connections once they have had no request for a second', async () => {
    await start({ drain: LONGER_THAN_TEST })
    const [used, unused] = (await open(2, port)) as [KeepAliveClient, KeepAliveClient]
    const requested = performance.now()
    await used.request()
    await expect.poll(async () => (await listeners())[0]?.connections).toBe(2)
    await remove()
    expect(await Promise.all([used.ended, unused.ended])).toEqual(['between', 'between'])
    // Not earlier: a client that just got a response may have sent its next request.
    expect(used.endedAt).toBeGreaterThan(requested + 950)
  })

  test('ends its event streams immediately and properly', async () => {
    await start({ drain: LONGER_THAN_TEST })
    const streams = await Promise.all([1, 2, 3].map(() => openEvents(port)))
    const other = await openEvents(node.port)
    await remove()
    await Promise.all(streams.map(({ ended }) => ended))
    // Complete, with the last chunk: the client sees a normal end and reconnects.
    expect(streams.map(({ response }) => response.complete)).toEqual([true, true, true])
    // The streams of other endpoints continue and report the change.
    await expect.poll(() => other.text()).toContain(`"endpoint":"${address}"`)
    expect(other.response.complete).toBe(false)
    other.response.destroy()
    await expect.poll(listeners).toEqual([])
  })

  test('can be added again while it drains, and the old listener can be closed separately', async () => {
    await start({ drain: LONGER_THAN_TEST })
    const slow = await openWorking(port)
    await remove()
    await add()
    const states = async () => (await listeners()).map(({ state }) => state)
    expect(await states()).toEqual(['listening', 'draining'])
    const list = (await node.request('GET', '/_api/endpoint')).json as { endpoint: string }[]
    expect(list.filter(({ endpoint }) => endpoint === address)).toHaveLength(1)

    const fresh = await openOne(port)
    expect(await fresh.request()).toMatchObject({ status: 200, close: false })
    const close = `/_api/listener/${encodeURIComponent(address)}/close`
    expect((await node.request('POST', close)).status).toBe(200)
    expect(await slow.ended).toBe('reset')
    await expect.poll(states).toEqual(['listening'])
    expect(await fresh.request()).toMatchObject({ status: 200, close: false })
    expect((await node.request('POST', close)).json).toMatchObject({ code: 404, errorNum: 1231 })
  })

  test('finishes its requests also if the node is stopped', async () => {
    await start({ drain: LONGER_THAN_TEST })
    const slow = await openWorking(port)
    await remove()
    const stopped = node.stop()
    await expect.poll(() => connectionRefused(node.port)).toBe('ECONNREFUSED')
    expect(await finishWorking(slow, 'slow3')).toMatchObject({ status: 201, close: true })
    await stopped
  })
})

interface Events {
  readonly response: IncomingMessage
  readonly ended: Promise<unknown>
  text(): string
}

/** Opens an event stream and reads its first event. */
async function openEvents(port: number): Promise<Events> {
  const headers = { Authorization: `Bearer ${token}` }
  const where = { port, host: '127.0.0.1', path: '/_api/events', headers, agent: false }
  const request = httpRequest(where).end()
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  let text = ''
  response.setEncoding('utf8').on('data', (part: string) => {
    text += part
  })
  response.on('error', () => {})
  const ended = once(response, 'close')
  await expect.poll(() => text).toContain('event: hello')
  return { response, ended, text: () => text }
}

describe('a stopping node', () => {
  test('becomes unready first, finishes busy connections, and exits with 0', async () => {
    const server = await startReal('--drain', '600', '--ready-delay', '5')
    const workers = await open(16, server.port)
    const work = Promise.all(
      workers.map((client) => client.keepBusy({ path: '/_api/health/live' })),
    )
    const slow = await openWorking(server.port)
    await expect.poll(() => Math.min(...workers.map(({ answered }) => answered))).toBeGreaterThan(3)

    server.signal('SIGTERM')
    const status = async (path: string) => (await sendRequest(server.port, 'GET', path)).status
    await expect.poll(() => status('/_api/health')).toBe(503)
    // For a load balancer, the server still accepts connections and is alive but not ready.
    expect(await status('/_api/health/ready')).toBe(503)
    expect(await status('/_api/health/live')).toBe(200)
    expect(await status('/')).toBe(302)
    await expect.poll(() => connectionRefused(server.port)).toBe('ECONNREFUSED')
    await work
    expect(workers.filter(({ ending }) => ending === 'reset')).toEqual([])
    expect(await finishWorking(slow, 'slow4')).toMatchObject({ status: 201, close: true })
    // With nothing left to drain, it exits before the drain time ends.
    expect(await server.exit).toEqual({ code: 0, signal: null })
  })

  test('disconnects the rest after the drain time, and exits with 0', async () => {
    const server = await startReal('--drain', '1')
    const slow = await openWorking(server.port)
    server.signal('SIGTERM')
    expect(await slow.ended).toBe('reset')
    expect(await server.exit).toEqual({ code: 0, signal: null })
  })

  test('disconnects the rest at a second signal', async () => {
    const server = await startReal('--drain', '600')
    const slow = await openWorking(server.port)
    server.signal('SIGTERM')
    await expect.poll(() => connectionRefused(server.port)).toBe('ECONNREFUSED')
    expect(slow.ending).toBe(undefined)
    // The same signal within a second is a repetition of the first.
    server.signal('SIGINT')
    expect(await slow.ended).toBe('reset')
    expect(await server.exit).toEqual({ code: 0, signal: null })
  })

  test('skips the rest of the ready delay at a second signal', async () => {
    const server = await startReal('--drain', '600', '--ready-delay', '600')
    server.signal('SIGTERM')
    await expect
      .poll(async () => (await sendRequest(server.port, 'GET', '/_api/health')).status)
      .toBe(503)
    server.signal('SIGINT')
    expect(await server.exit).toEqual({ code: 0, signal: null })
  })
})
