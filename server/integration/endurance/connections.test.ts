import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { NODE_FLAGS } from '../../../bin/node-flags.js'
import { freePorts } from '../../endpoints/listeners/free-ports.testing.ts'
import {
  KeepAliveClient,
  openClients,
} from '../../endpoints/listeners/keep-alive-client.testing.ts'
import {
  killProcesses,
  type ProcessOptions,
  type ServerProcess,
  startProcess,
} from '../../test-support/server-process.testing.ts'
import { makeToken, sendRequest } from '../../test-support/start.testing.ts'
import { CONNECTIONS } from './settings.testing.ts'

// A node with an endpoint for all databases and one for data only has many open connections.
// `npm run test:endurance` opens more of them.

/** Limit on open files with which the node starts. */
const FILES = 200

/** Number of idle connections whose memory is measured. Fewer take less than is measured. */
const IDLE_CONNECTIONS = Math.max(CONNECTIONS, 2_000)

/** How often these connections are opened and closed. */
const ROUNDS = 8

/** Memory that the allocator may keep, KiB. All sockets together take several times as much. */
const ALLOCATED = 10 * 1024

/** Minimum number of requests after which the code of a node is compiled. */
const WARM_UP = 2_000

/** Maximum time until an idle node on a busy machine has released its memory. */
const RELEASED = { timeout: 180_000, interval: 200 }

/** Maximum time of a test on a busy machine, ms. A node is idle for 15 s before it releases memory. */
const LIMIT = 600_000 + CONNECTIONS * 100

let folder: string
const clients: KeepAliveClient[] = []

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-connections-'))
})
afterEach(async () => {
  closeClients()
  await killProcesses()
  rmSync(folder, { recursive: true, force: true })
})

function closeClients(): void {
  for (const client of clients.splice(0)) client.leave()
}

/** Opens connections, in groups that fit the queue of a listening socket. */
async function open(count: number, port: number): Promise<void> {
  for (let left = count; left > 0; left -= 250) {
    clients.push(...(await openClients(Math.min(left, 250), { port })))
  }
}

interface StartOptions extends ProcessOptions {
  readonly flags?: readonly string[]
}

async function startWithDataEndpoint({ flags = [], ...options }: StartOptions) {
  const [admin = 0, data = 0] = await freePorts(2)
  const all = ['--data', folder, '--endpoint', `tcp://127.0.0.1:${admin}`, ...flags]
  const server = await startProcess(all, options)
  const token = await makeToken({ data: folder, databaseUrl: undefined })
  const call = (port: number, method: string, path: string, body?: unknown) =>
    sendRequest(port, method, path, { body, headers: { Authorization: `Bearer ${token}` } })
  const endpoint = `tcp://127.0.0.1:${data}`
  const added = await call(admin, 'POST', '/_api/endpoint', { endpoint, databases: ['blog'] })
  expect(added.status).toBe(200)
  expect((await call(admin, 'POST', '/_api/database', { name: 'blog' })).status).toBe(201)
  const created = await call(admin, 'POST', '/_db/blog/posts', { id: 'one' })
  expect(created.status).toBe(201)
  return {
    server,
    admin,
    data,
    /** Returns the status of a request over a new connection; 0 if the connection is closed. */
    status: (port: number, path: string) =>
      call(port, 'GET', path).then(
        ({ status }) => status,
        () => 0,
      ),
    /** Sends a request over a connection that is open already. */
    send: (client: KeepAliveClient, head: string, body = '') =>
      client.request(
        `${head} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n` +
          `Content-Length: ${body.length}\r\n\r\n${body}`,
      ),
  }
}

/** Returns the file descriptors of the node that count towards {@link FILES}. */
const descriptors = ({ pid }: ServerProcess) =>
  readdirSync(`/proc/${pid}/fd`)
    .map(Number)
    .filter((descriptor) => descriptor < FILES)

/** Returns the resident memory of the node, KiB. */
const residentMemory = ({ pid }: ServerProcess) =>
  Number(/^VmRSS:\s*([0-9]+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])

const limitOpenFiles = ({ pid }: ServerProcess, files: number) =>
  execFileSync('prlimit', ['--pid', String(pid), `--nofile=${files}:`])

test('more connections than the limit on open files leave the administration reachable', {
  timeout: LIMIT,
}, async () => {
  const { server, admin, data, status, send } = await startWithDataEndpoint({
    through: ['prlimit', `--nofile=${FILES}:${FILES}`],
  })
  const kept = await KeepAliveClient.open({ port: admin })
  expect((await send(kept, 'GET /_api/endpoint')).status).toBe(200)
  const usual = descriptors(server).length
  /** Sends requests over new connections to both endpoints. Returns how long they took, ms. */
  const serve = async () => {
    const begun = performance.now()
    expect(await status(data, '/posts/one')).toBe(200)
    expect(await status(admin, '/_api/endpoint')).toBe(200)
    return performance.now() - begun
  }
  const durations = [await serve(), await serve(), await serve()]
  /**
   * Closes all connections but one, and waits until the node has closed its ends. It then serves new
   * connections within seconds, and the time that a busy machine takes for the same requests.
   */
  const recover = async () => {
    closeClients()
    await expect.poll(() => descriptors(server).length).toBeLessThan(usual + 8)
    const duration = await serve()
    durations.push(await serve(), await serve())
    expect(duration).toBeLessThan(5_000 + 2 * Math.max(...durations))
  }

  await open(CONNECTIONS, data)
  await expect.poll(() => status(data, '/posts/one')).toBe(0)
  // New connections to the administration are served, those to data are not.
  for (let n = 0; n < 5; n++) {
    expect(await status(admin, '/_api/endpoint')).toBe(200)
    expect(await status(admin, '/_db/blog/posts/one')).toBe(200)
    expect(await status(data, '/posts/one')).toBe(0)
  }
  await open(CONNECTIONS, admin)
  await expect.poll(() => status(admin, '/_api/endpoint')).toBe(0)
  // Some descriptors remain for the store and other files.
  expect(descriptors(server).length).toBeLessThan(FILES - 32)
  expect((await send(kept, 'GET /_api/endpoint')).status).toBe(200)
  await recover()

  // The limit of the process is lowered below the limit that the node knows.
  limitOpenFiles(server, Math.max(...descriptors(server)) + 1)
  await open(CONNECTIONS, data)
  await expect.poll(() => status(data, '/posts/one')).toBe(0)
  expect((await send(kept, 'GET /_api/endpoint')).status).toBe(200)
  expect((await send(kept, 'POST /_db/blog/posts', '{"id":"two"}')).status).toBe(201)
  limitOpenFiles(server, FILES)
  await recover()
  expect(await status(data, '/posts/two')).toBe(200)

  kept.leave()
  server.signal('SIGTERM')
  expect(await server.exit).toEqual({ code: 0, signal: null })
})

test(`${IDLE_CONNECTIONS} idle connections beside a load do not increase the memory of a node after it`, {
  timeout: LIMIT,
}, async () => {
  const { server, admin, data } = await startWithDataEndpoint({
    // V8 collects sooner after the load; the default is 8 s.
    nodeFlags: [...NODE_FLAGS, '--gc-memory-reducer-start-delay-ms=500'],
    flags: ['--log', 'debug'],
  })
  /** Waits until the node is idle and has released the memory that V8 has collected since then. */
  const releases = () => server.printed().split('released unused memory').length - 1
  const untilReleased = async () => {
    const before = releases()
    await expect.poll(releases, RELEASED).toBeGreaterThan(before + 1)
  }
  /** Runs a load, and `during` beside it. */
  const underLoad = async (during: () => Promise<void>) => {
    const busy = await KeepAliveClient.open({ port: admin })
    let isOver = false
    const load = busy.keepBusy({ until: () => isOver })
    await during()
    isOver = true
    await load
    busy.leave()
  }
  await underLoad(async () => {
    await open(1, data)
    const [other] = clients
    await other?.keepBusy({ until: () => other.answered > WARM_UP })
  })
  closeClients()
  await untilReleased()
  const before = residentMemory(server)
  await underLoad(async () => {
    for (let round = 0; round < ROUNDS; round++) {
      await open(IDLE_CONNECTIONS, data)
      expect(residentMemory(server)).toBeGreaterThan(before)
      closeClients()
    }
  })
  await untilReleased()
  const allowed = before * 1.1 + ALLOCATED
  await expect.poll(() => residentMemory(server), RELEASED).toBeLessThan(allowed)
})
