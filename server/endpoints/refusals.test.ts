import { once } from 'node:events'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { connect, createServer, type ListenOptions, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { connect as connectTls } from 'node:tls'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Config } from '../config.ts'
import type { EndpointRecord } from '../contract/endpoint.ts'
import type { ListenerStatus } from '../contract/listener.ts'
import { killProcesses, startProcess } from '../server-process.testing.ts'
import {
  type Answer,
  ask,
  endpointPath,
  makeToken,
  startForTest,
  type TestNode,
} from '../start.testing.ts'
import { freePorts } from './free-ports.testing.ts'
import { KeepAliveClient } from './keep-alive-client.testing.ts'
import { expectListening, listeningAddresses } from './kernel-sockets.testing.ts'

// Whatever keeps an endpoint from being had, by a real server and real sockets: long, since there are so
// many reasons, and each leaves nothing behind.

const moment = { timeout: 10_000, interval: 20 }
/** How late a timer may be on a busy machine, ms. */
const LATE = 2_000
const DONE = { result: true, error: false, code: 200 }

let folder: string
let port: number
let address: string
const others: Server[] = []
const nodes: TestNode[] = []

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-refusals-'))
  ;[port = 0] = await freePorts(1)
  address = `tcp://127.0.0.1:${port}`
})

afterEach(async () => {
  for (const server of others.splice(0)) server.close()
  await Promise.all(nodes.splice(0).map((node) => node.stop()))
  await killProcesses()
  rmSync(folder, { recursive: true, force: true })
})

async function start(settings: Partial<Config> = {}): Promise<TestNode> {
  const node = await startForTest(settings)
  nodes.push(node)
  return node
}

/** Another program, as far as the server can tell: it answers whatever it is sent. */
async function occupy(where: ListenOptions): Promise<Server> {
  const server = createServer((socket) => {
    // Whoever only tried whether somebody is there has gone already.
    socket.on('error', () => {})
    socket.end('mine')
  })
  server.listen({ ...where, exclusive: true })
  others.push(server)
  await once(server, 'listening')
  return server
}

/** What another program answers: it must not have noticed anything. */
async function heard(where: { port: number; host: string } | { path: string }): Promise<string> {
  const socket = connect(where).setEncoding('utf8')
  const [text] = (await once(socket, 'data')) as [string]
  return text
}

const add = (node: TestNode, endpoint: string): Promise<Answer> =>
  node.ask('POST', '/_api/endpoint', { endpoint, databases: [] })
const remove = (node: TestNode, endpoint: string): Promise<Answer> =>
  node.ask('DELETE', endpointPath(endpoint))
const listed = async (node: TestNode): Promise<string[]> =>
  ((await node.ask('GET', '/_api/endpoint')).json as EndpointRecord[]).map((each) => each.endpoint)
const listeners = async (node: TestNode): Promise<ListenerStatus[]> =>
  (await node.ask('GET', '/_api/listener')).json
const listener = async (node: TestNode, name = address): Promise<ListenerStatus | undefined> =>
  (await listeners(node)).find(({ endpoint }) => endpoint === name)

interface Refusal {
  readonly status: number
  readonly errorNum: number
  readonly message: RegExp
}

/**
 * Adds an endpoint that is to be refused, and makes sure that nothing is left of it: no row, no
 * listener, no socket, no file. A connection to the first endpoint is not to notice.
 */
async function expectRefused(node: TestNode, endpoint: string, refusal: Refusal): Promise<void> {
  const look = async () => ({
    endpoints: (await node.ask('GET', '/_api/endpoint')).json,
    listeners: (await listeners(node)).map((each) => [each.endpoint, each.state, each.revision]),
    files: readdirSync(folder),
  })
  const witness = await KeepAliveClient.open({ port: node.port })
  await witness.ask()
  const before = await look()
  const sockets = await listeningAddresses(process.pid)
  const { status, json, headers } = await add(node, endpoint)
  expect(json).toEqual({
    error: true,
    code: refusal.status,
    errorNum: refusal.errorNum,
    errorMessage: expect.stringMatching(refusal.message),
  })
  expect(status).toBe(refusal.status)
  expect(headers['content-type']).toBe('application/json; charset=utf-8')
  expect(await look()).toEqual(before)
  await expectListening(process.pid, sockets)
  expect(await witness.ask()).toMatchObject({ status: 200, close: false })
  witness.leave()
}

describe('an endpoint is refused, and leaves nothing behind, on', () => {
  test('a port that another program has', async () => {
    const node = await start()
    await occupy({ port, host: '127.0.0.1' })
    await expectRefused(node, address, {
      status: 409,
      errorNum: 1200,
      message: /^Port [0-9]+ on 127\.0\.0\.1 is taken by another program\..* \(EADDRINUSE\)$/,
    })
    expect(await heard({ port, host: '127.0.0.1' })).toBe('mine')
    // And again, as often as it is asked: nothing was remembered.
    await expectRefused(node, address, { status: 409, errorNum: 1200, message: /EADDRINUSE/ })
    others.pop()?.close()
    expect((await add(node, address)).json).toEqual(DONE)
  })

  test('every address, while another program has the port on one', async () => {
    const node = await start()
    await occupy({ port, host: '127.0.0.1' })
    const refusal = { status: 409, errorNum: 1200, message: /another program.*\(EADDRINUSE\)$/ }
    await expectRefused(node, `tcp://0.0.0.0:${port}`, refusal)
    await expectRefused(node, `tcp://localhost:${port}`, refusal)
  })

  test('an address that is not of this machine', async () => {
    await expectRefused(await start(), `tcp://192.0.2.1:${port}`, {
      status: 400,
      errorNum: 10,
      message: /^192\.0\.2\.1 is no address of this machine\..* \(EADDRNOTAVAIL\)$/,
    })
  })

  test('a name that leads nowhere', async () => {
    await expectRefused(await start(), `tcp://nowhere.invalid:${port}`, {
      status: 400,
      errorNum: 10,
      message: /^The name nowhere\.invalid leads to no address\. \((ENOTFOUND|EAI_AGAIN)\)$/,
    })
  })

  test('ssl, where there is no certificate', async () => {
    await expectRefused(await start(), `ssl://127.0.0.1:${port}`, {
      status: 400,
      errorNum: 10,
      message: /needs a certificate\. Start Gatehouse with --tls-cert and --tls-key\.$/,
    })
  })

  test('a unix socket that a program listens on', async () => {
    const node = await start()
    const path = join(folder, 'live.sock')
    await occupy({ path })
    await expectRefused(node, `unix://${path}`, {
      status: 409,
      errorNum: 1200,
      message: /^Another program listens on .*live\.sock\..* \(EADDRINUSE\)$/,
    })
    expect(await heard({ path })).toBe('mine')
  })

  test('a unix socket beside the store, by whatever path, and one where others can write', async () => {
    const node = await start()
    const reserved = { status: 400, errorNum: 10, message: /holds the data or the keys/ }
    await expectRefused(node, `unix://${join(node.data, 'gatehouse.db-journal')}`, reserved)
    symlinkSync(node.data, join(folder, 'link'))
    await expectRefused(node, `unix://${join(folder, 'link', 'a.sock')}`, reserved)
    const open = join(folder, 'open')
    mkdirSync(open)
    chmodSync(open, 0o777)
    await expectRefused(node, `unix://${join(open, 'a.sock')}`, {
      status: 400,
      errorNum: 10,
      message: /Other users can write to/,
    })
  })

  test('the path of a file, which stays as it is', async () => {
    const node = await start()
    const path = join(folder, 'notes.txt')
    writeFileSync(path, 'keep me')
    await expectRefused(node, `unix://${path}`, {
      status: 409,
      errorNum: 1200,
      message: /notes\.txt exists and is no socket\..* \(EEXIST\)$/,
    })
    expect(readFileSync(path, 'utf8')).toBe('keep me')
    mkdirSync(join(folder, 'folder'))
    await expectRefused(node, `unix://${join(folder, 'folder')}`, {
      status: 409,
      errorNum: 1200,
      message: /EEXIST/,
    })
  })

  test('a path whose folder is missing, or is none', async () => {
    const node = await start()
    const refusal = { status: 400, errorNum: 10, message: /Does its folder exist\? \(ENO[A-Z]+\)$/ }
    await expectRefused(node, `unix://${join(folder, 'missing', 'a.sock')}`, refusal)
    writeFileSync(join(folder, 'file'), '')
    await expectRefused(node, `unix://${join(folder, 'file', 'a.sock')}`, refusal)
  })

  test.each([
    ['127.0.0.1', '0.0.0.0'],
    ['0.0.0.0', '127.0.0.1'],
    ['127.0.0.1', 'localhost'],
    ['localhost', '127.0.0.1'],
    ['[::1]', '[::]'],
  ])('a port that an endpoint of its own has on %s: %s', async (has, wants) => {
    const node = await start()
    const holder = `tcp://${has}:${port}`
    expect((await add(node, holder)).status).toBe(200)
    await expectRefused(node, `tcp://${wants}:${port}`, {
      status: 409,
      errorNum: 1200,
      message: new RegExp(`taken by the endpoint ${RegExp.escape(holder)}\\..* \\(EADDRINUSE\\)$`),
    })
  })

  test('a port below 1024, without permission', async () => {
    const data = join(folder, 'data')
    const flags = ['--data', data, '--endpoint', address, '--log', 'info']
    // Nobody may, unless by a capability that root has and gives away here.
    const without = ['--bounding-set=-net_bind_service', '--inh-caps=-net_bind_service']
    const through = process.getuid?.() === 0 ? ['setpriv', ...without] : []
    const server = await startProcess(flags, { through })
    const before = await listeningAddresses(server.pid)
    const headers = { Authorization: `Bearer ${await makeToken({ data, databaseUrl: undefined })}` }
    const list = (await ask(port, 'GET', '/_api/endpoint', { headers })).json
    const low = await lowPort()
    const answer = await ask(port, 'POST', '/_api/endpoint', {
      body: { endpoint: `tcp://127.0.0.1:${low}`, databases: [] },
      headers,
    })
    if (low >= unprivileged()) {
      // A container may let everybody have every port; then there is nothing to refuse.
      expect(answer.json).toEqual(DONE)
      return
    }
    expect(answer.json).toEqual({
      error: true,
      code: 403,
      errorNum: 11,
      errorMessage:
        'Ports below 1024 need permission from the system. Choose 1024 or higher. (EACCES)',
    })
    expect(answer.status).toBe(403)
    await expectListening(server.pid, before)
    expect((await ask(port, 'GET', '/_api/endpoint', { headers })).json).toEqual(list)
  })
})

const unprivileged = () =>
  Number(readFileSync('/proc/sys/net/ipv4/ip_unprivileged_port_start', 'utf8'))

/** A port below 1024 on which nothing answers. */
async function lowPort(): Promise<number> {
  for (let low = 1023; low > 900; low--) {
    const answers = await KeepAliveClient.open({ port: low }).then(
      (client) => {
        client.leave()
        return true
      },
      () => false,
    )
    if (!answers) return low
  }
  throw new Error('every port from 901 to 1023 is taken')
}

describe('a change that cannot be stored', () => {
  /** Makes the store refuse every change of an endpoint; it can still be read. */
  function refuseChanges({ data }: TestNode): void {
    const store = new DatabaseSync(join(data, 'gatehouse.sqlite'))
    for (const what of ['insert', 'update', 'delete']) {
      store.exec(
        `create trigger refusing_${what} before ${what} on endpoints
         begin select raise(abort, 'no'); end`,
      )
    }
    store.close()
  }

  test('leaves no socket of an endpoint that was to be added', async () => {
    const node = await start()
    refuseChanges(node)
    const path = join(folder, 'a.sock')
    for (const endpoint of [address, `unix://${path}`]) {
      await expectRefused(node, endpoint, { status: 500, errorNum: 4, message: /on our side/ })
    }
    expect(existsSync(path)).toBe(false)
  })

  test('leaves an endpoint that was to be removed or remapped as it was', async () => {
    const node = await start()
    expect((await add(node, address)).json).toEqual(DONE)
    const before = (await node.ask('GET', '/_api/endpoint')).json
    refuseChanges(node)
    const remapped = { endpoint: address, databases: ['ada'] }
    expect((await node.ask('POST', '/_api/endpoint', remapped)).status).toBe(500)
    expect((await remove(node, address)).status).toBe(500)
    expect((await node.ask('GET', '/_api/endpoint')).json).toEqual(before)
    const there = await node.ask('GET', '/_api/endpoint', undefined, { port })
    expect(there.json).toEqual(before)
    // Both count as ways in as before: neither is refused as the last one.
    for (const endpoint of [address, node.address]) {
      expect((await remove(node, endpoint)).status).toBe(500)
    }
  })
})

test('both wildcards of one port are two endpoints', async () => {
  const node = await start()
  for (const host of ['0.0.0.0', '[::]']) {
    expect((await add(node, `tcp://${host}:${port}`)).json).toEqual(DONE)
    const at = host === '[::]' ? '::1' : '127.0.0.1'
    expect((await ask(port, 'GET', '/_api/health', { host: at })).status).toBe(200)
  }
})

describe('a port taken while the server was down', () => {
  const other = () => `tcp://127.0.0.1:${port}`

  /** A node that has stored an endpoint which it cannot open, and one that it can. */
  async function startWithFailed(): Promise<TestNode> {
    const data = join(folder, 'data')
    const before = await startForTest({ data })
    expect((await add(before, other())).status).toBe(200)
    await before.stop()
    await occupy({ port, host: '127.0.0.1' })
    return start({ data })
  }

  const release = () => others.pop()?.close()

  test('leaves its endpoint failed, with a reason, and stops no other', async () => {
    const node = await startWithFailed()
    expect(await listed(node)).toContain(other())
    const failed = await listener(node)
    expect(failed).toMatchObject({
      state: 'failed',
      error: expect.stringMatching(/taken by another program.*\(EADDRINUSE\)$/),
      connections: 0,
    })
    const since = Date.parse(failed?.since ?? '')
    expect(Date.parse(failed?.nextTry ?? '')).toBeGreaterThan(since)
    expect(await heard({ port, host: '127.0.0.1' })).toBe('mine')
    // Every other endpoint listens.
    const states = (await listeners(node)).map(({ state }) => state)
    expect(states.toSorted()).toEqual(['failed', 'listening', 'listening'])
  })

  test('is had again as soon as it is free, by itself', async () => {
    const node = await startWithFailed()
    const first = await listener(node)
    // It keeps trying, with growing pauses.
    const second = await vi.waitFor(async () => {
      const now = await listener(node)
      expect(now?.since).not.toBe(first?.since)
      expect(now?.state).toBe('failed')
      return now
    }, moment)
    const pause = (status: ListenerStatus | undefined) =>
      Date.parse(status?.nextTry ?? '') - Date.parse(status?.since ?? '')
    expect(pause(second)).toBeGreaterThan(pause(first) * 1.4)
    release()
    await vi.waitFor(async () => {
      expect(await listener(node)).toMatchObject({ state: 'listening', error: null, nextTry: null })
    }, moment)
    expect((await ask(port, 'GET', '/_api/health')).status).toBe(200)
  })

  test('is tried again at once when somebody asks', async () => {
    const node = await startWithFailed()
    const retry = () => node.ask('POST', `/_api/listener/${encodeURIComponent(other())}/retry`)
    const refused = await retry()
    expect(refused.json).toMatchObject({ code: 409, errorNum: 1200 })
    expect(refused.json.errorMessage).toMatch(/EADDRINUSE/)
    const due = Date.parse((await listener(node))?.nextTry ?? '')
    release()
    expect((await retry()).json).toEqual(DONE)
    expect((await ask(port, 'GET', '/_api/health')).status).toBe(200)
    // Its own next try would have come later.
    expect(Date.now()).toBeLessThan(due)
    expect(await listener(node)).toMatchObject({ state: 'listening', nextTry: null })
    // Its own next try may come before somebody asks: that is no fault of theirs.
    expect((await retry()).json).toEqual(DONE)
  })

  test('is not in the way of removing its endpoint', async () => {
    const node = await startWithFailed()
    expect((await remove(node, other())).json).toEqual(DONE)
    expect(await listed(node)).not.toContain(other())
    expect(await listener(node)).toBe(undefined)
    release()
    // Nothing tries for it any more.
    await occupy({ port, host: '127.0.0.1' })
  })
})

describe('a unix endpoint', () => {
  let path: string
  let endpoint: string

  beforeEach(() => {
    path = join(folder, 'gatehouse.sock')
    endpoint = `unix://${path}`
  })

  /** A socket file that nobody listens on any more, as a killed process leaves it. */
  async function leaveStale(): Promise<void> {
    const server = await occupy({ path: `${path}.moving` })
    // The server takes away its own path when it closes, and does not know this one.
    renameSync(`${path}.moving`, path)
    server.close()
    await once(server, 'close')
  }

  const health = () => ask(0, 'GET', '/_api/health', { socketPath: path })

  test('is for its owner and group alone, and its file goes with it', async () => {
    const node = await start()
    expect((await add(node, endpoint)).json).toEqual(DONE)
    expect((statSync(path).mode & 0o777).toString(8)).toBe('660')
    expect((await health()).status).toBe(200)
    expect(await listeningAddresses(process.pid)).toContain(endpoint)
    expect((await remove(node, endpoint)).json).toEqual(DONE)
    expect(existsSync(path)).toBe(false)
  })

  test('replaces a socket that a dead process has left', async () => {
    const node = await start()
    await leaveStale()
    expect(statSync(path).isSocket()).toBe(true)
    expect((await add(node, endpoint)).json).toEqual(DONE)
    expect((await health()).status).toBe(200)
    expect((statSync(path).mode & 0o777).toString(8)).toBe('660')
  })

  test('keeps its file when it is added again while the old one drains', async () => {
    const node = await start({ drain: 10_000 })
    await add(node, endpoint)
    const slow = await KeepAliveClient.open({ path })
    await slow.sendPart('GET /_api/health HTTP/1.1\r\n')
    await remove(node, endpoint)
    expect((await add(node, endpoint)).json).toEqual(DONE)
    expect(await slow.ask('Host: localhost\r\n\r\n')).toMatchObject({ status: 200, close: true })
    await slow.ended
    expect((await health()).status).toBe(200)
  })
})

describe('an ssl endpoint', () => {
  const testdata = (name: string) => join(import.meta.dirname, 'testdata', name)
  let tls: { cert: string; key: string }
  let endpoint: string

  beforeEach(() => {
    tls = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') }
    copyFileSync(testdata('first.cert.pem'), tls.cert)
    copyFileSync(testdata('first.key.pem'), tls.key)
    endpoint = `ssl://127.0.0.1:${port}`
  })

  /** Asks over TLS, trusting one certificate alone; resolves with the whole answer. */
  async function askTls(trusted: string): Promise<string> {
    const socket = connectTls({
      port,
      host: '127.0.0.1',
      ca: readFileSync(testdata(trusted)),
      ALPNProtocols: ['http/1.1'],
    })
    let text = ''
    socket.setEncoding('utf8').on('data', (part: string) => {
      text += part
    })
    await once(socket, 'secureConnect')
    socket.write('GET /_api/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
    await once(socket, 'close')
    return text
  }

  test('answers over TLS, and plain HTTP on it harms nothing', async () => {
    const node = await start({ tls })
    expect((await add(node, endpoint)).json).toEqual(DONE)
    const held = connectTls({
      port,
      host: '127.0.0.1',
      ca: readFileSync(testdata('first.cert.pem')),
    })
    await once(held, 'secureConnect')
    const plain = connect(port, '127.0.0.1').setEncoding('utf8')
    let answer = ''
    plain.on('data', (part: string) => {
      answer += part
    })
    plain.on('error', () => {})
    plain.write('GET /_api/health HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await once(plain, 'close')
    expect(answer).not.toContain('HTTP/1.1')
    expect(await askTls('first.cert.pem')).toMatch(/^HTTP\/1\.1 200 .*"ready":true/s)
    // The connection that was there before still answers.
    held.write('GET /_api/health HTTP/1.1\r\nHost: localhost\r\n\r\n')
    expect(String((await once(held, 'data'))[0])).toMatch(/^HTTP\/1\.1 200 /)
    held.destroy()
  })

  test('uses a renewed certificate without a restart', async () => {
    const node = await start({ tls })
    await add(node, endpoint)
    await expect(askTls('renewed.cert.pem')).rejects.toThrow(/self-signed|verify/)
    // Between the two, certificate and key do not fit: the last good pair stays.
    copyFileSync(testdata('renewed.cert.pem'), tls.cert)
    expect(await askTls('first.cert.pem')).toMatch(/^HTTP\/1\.1 200 /)
    copyFileSync(testdata('renewed.key.pem'), tls.key)
    await vi.waitFor(
      async () => expect(await askTls('renewed.cert.pem')).toMatch(/^HTTP\/1\.1 200 /),
      moment,
    )
    await expect(askTls('first.cert.pem')).rejects.toThrow(/self-signed|verify/)
    // So does an endpoint that is added from now on.
    const [another = 0] = await freePorts(1)
    expect((await remove(node, endpoint)).status).toBe(200)
    port = another
    expect((await add(node, `ssl://127.0.0.1:${port}`)).json).toEqual(DONE)
    expect(await askTls('renewed.cert.pem')).toMatch(/^HTTP\/1\.1 200 /)
  })

  test('closes its idle connections when it is removed, before and after their handshake', async () => {
    const node = await start({ tls, drain: 20_000 })
    await add(node, endpoint)
    const ca = readFileSync(testdata('first.cert.pem'))
    const idle = connectTls({ port, host: '127.0.0.1', ca })
    idle.on('error', () => {})
    await once(idle, 'secureConnect')
    const silent = connect(port, '127.0.0.1')
    await vi.waitFor(async () => {
      expect((await listener(node, endpoint))?.connections).toBe(1)
    }, moment)
    const asked = performance.now()
    await remove(node, endpoint)
    await Promise.all([once(idle, 'close'), once(silent, 'close')])
    expect(performance.now() - asked).toBeLessThan(1_000 + LATE)
    await vi.waitFor(async () => expect(await listener(node, endpoint)).toBe(undefined), moment)
  })
})
