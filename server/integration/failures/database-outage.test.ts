import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { freePorts } from '../../endpoints/listeners/free-ports.testing.ts'
import {
  type OwnPostgres,
  startOwnPostgres,
} from '../../storage/test-support/postgres-server.testing.ts'
import {
  COMMIT_BYTES,
  startTcpProxy,
  type TcpProxy,
} from '../../storage/test-support/tcp-proxy.testing.ts'
import { operatorSession } from '../../test-support/operator-session.testing.ts'
import { killProcesses, MAIN, startProcess } from '../../test-support/server-process.testing.ts'
import {
  endpointPath,
  sendRequest,
  startForTest,
  type TestNode,
  type TestResponse,
} from '../../test-support/start.testing.ts'

// Tests a node whose PostgreSQL becomes unavailable and returns, from a client's point of view. The
// store itself is tested in storage/postgres/unavailable.test.ts.

const SECRETS = {
  operatorKey: 'operator-key-of-the-tests-and-nothing-else',
  secretKey: Buffer.alloc(32, 1),
}

let server: OwnPostgres

beforeAll(async () => {
  server = await startOwnPostgres()
})
afterEach(killProcesses)
afterAll(() => server.remove())

describe('a node', () => {
  let proxy: TcpProxy
  let node: TestNode

  beforeEach(async () => {
    proxy = await startTcpProxy(server.port)
    const databaseUrl = `postgres://gatehouse@127.0.0.1:${proxy.port}/postgres`
    node = await startForTest({ databaseUrl, ...SECRETS })
    await node.request('POST', '/things', { id: 'kept' })
  })
  afterEach(async () => {
    // Also after a test that failed half-way.
    await server.start()
    proxy.heal()
    await node.stop()
    await proxy.close()
  })

  const outages = [
    { way: 'crashes', go: () => server.stop('SIGKILL'), back: () => server.start() },
    { way: 'vanishes', go: async () => proxy.swallow(), back: async () => proxy.heal() },
  ]

  test.each(outages)('keeps running while PostgreSQL $way, and recovers', async (each) => {
    const [port] = await freePorts(1)
    const added = `tcp://127.0.0.1:${port}`
    expect(
      (await node.request('POST', '/_api/endpoint', { endpoint: added, databases: [] })).status,
    ).toBe(200)
    const Cookie = await operatorSession(node)
    const get = (path: string) => sendRequest(node.port, 'GET', path, { headers: { Cookie } })
    const isListed = async () => (await get('/_api/endpoint')).status === 200
    // A notification of the changes above may arrive late and clear the known callers: then repeat
    // the outage.
    for (let isKnown = false; !isKnown; ) {
      for (let time = 0; time < 50; time++) expect(await isListed()).toBe(true)
      await each.go()
      isKnown = await isListed()
      if (!isKnown) {
        await each.back()
        await expect.poll(isListed).toBe(true)
      }
    }
    await Promise.all(
      Array.from({ length: 100 }, async () => {
        const { status, headers } = await node.request('GET', '/things/kept')
        expect(status).toBe(503)
        expect(headers['retry-after']).toBe('1')
      }),
    )
    // Not ready but alive; both listeners are open.
    await expect
      .poll(() => sendRequest(port ?? 0, 'GET', '/_api/health/ready'))
      .toMatchObject({
        status: 503,
        json: { reason: expect.stringContaining('The database has been unavailable since') },
      })
    expect((await sendRequest(node.port, 'GET', '/_api/health')).status).toBe(503)
    expect((await sendRequest(node.port, 'GET', '/_api/health/live')).status).toBe(200)
    // Recently known callers keep read access; changes are rejected.
    const listed: TestResponse = await get('/_api/endpoint')
    expect(listed.json).toContainEqual({ endpoint: added, databases: [] })
    expect((await get('/_api/listener')).status).toBe(200)
    const change = await node.request('DELETE', endpointPath(added))
    expect(change.json).toMatchObject({ code: 503, errorNum: 503 })
    expect(change.json.errorMessage).toBe('The database is unavailable. Try again.')

    await each.back()
    await expect.poll(async () => (await node.request('GET', '/things/kept')).status).toBe(200)
    await expect
      .poll(async () => (await node.request('GET', '/_api/health/ready')).status)
      .toBe(200)
    expect((await node.request('DELETE', endpointPath(added))).status).toBe(200)
  })

  test('reports a document as stored if the response was lost, and accepts a retry', async () => {
    for (const { way, method, path, statement, status } of [
      { way: 'created', method: 'POST', path: '/things', statement: 'insert', status: 201 },
      { way: 'replaced', method: 'PUT', path: '/things/one', statement: 'update', status: 200 },
      { way: 'deleted', method: 'DELETE', path: '/things/one', statement: 'delete', status: 200 },
    ] as const) {
      const lost = proxy.loseAnswerTo(`${statement}-document`)
      const document = { id: 'one', way }
      const response = await node.request(method, path, method === 'DELETE' ? undefined : document)
      await lost
      expect(response.status).toBe(status)
    }
    expect((await node.request('GET', '/things/one')).status).toBe(404)
  })

  test('reports an unknown outcome and how to check it', async () => {
    const lost = proxy.loseAnswerTo('insert-document', 'silence')
    const waiting = node.request('POST', '/things', { made: 'without an id' })
    await lost
    proxy.swallow()
    const { status, json, headers } = await waiting
    expect(status).toBe(503)
    expect(headers['retry-after']).toBe('1')
    expect(json).toMatchObject({
      id: 'unavailable',
      message: expect.stringContaining('The database did not confirm the change'),
      ids: [expect.any(String)],
    })
    proxy.heal()
    await expect
      .poll(async () => (await node.request('GET', `/things/${json.ids[0]}`)).status)
      .toBe(200)
  })

  test('reports an endpoint as added or removed if the response to the commit was lost', async () => {
    const [port] = await freePorts(1)
    const endpoint = `tcp://127.0.0.1:${port}`
    for (const change of [
      () => node.request('POST', '/_api/endpoint', { endpoint, databases: [] }),
      () => node.request('DELETE', endpointPath(endpoint)),
    ]) {
      const lost = proxy.loseAnswerTo(COMMIT_BYTES)
      const response = await change()
      await lost
      expect(response.status).toBe(200)
    }
  })

  test('applies changes whose commit it did not learn of', async () => {
    const [port = 0] = await freePorts(1)
    const endpoint = `tcp://127.0.0.1:${port}`
    const lost = proxy.loseAnswerTo(COMMIT_BYTES, 'silence')
    const adding = node.request('POST', '/_api/endpoint', { endpoint, databases: [] })
    await lost
    proxy.swallow()
    const response = await adding
    expect(response.json).toMatchObject({
      code: 503,
      errorMessage: expect.stringContaining('did not confirm the change'),
    })
    proxy.heal()
    await expect
      .poll(async () => (await sendRequest(port, 'GET', '/_api/health/live')).status)
      .toBe(200)
  })

  test('stops while the database is unavailable', async () => {
    proxy.swallow()
    await node.request('GET', '/things/kept')
    await node.stop()
    await expect(node.request('GET', '/')).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  })
})

test('a process that is started before its database reports that and waits', async () => {
  await server.stop('SIGINT')
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-away-'))
  try {
    const [port = 0] = await freePorts(1)
    const endpoint = `tcp://127.0.0.1:${port}`
    const flags = ['--database-url', server.url, '--data', folder, '--endpoint', endpoint]
    const env = {
      GATEHOUSE_OPERATOR_KEY: SECRETS.operatorKey,
      GATEHOUSE_SECRET_KEY: SECRETS.secretKey.toString('base64'),
    }
    // Listens in place of the store, to detect the first connection attempt.
    const door = createServer((socket) => socket.destroy()).listen(server.port, '127.0.0.1')
    const starting = startProcess(flags, { env })
    await once(door, 'connection')
    door.close()
    await once(door, 'close')
    await server.start()
    const started = await starting
    expect(started.printed().split('\n')[0]).toContain(
      'waiting for the database to become available',
    )
    expect((await sendRequest(port, 'GET', '/_api/health/ready')).status).toBe(200)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('a process that waits for its database at the start ends at SIGTERM', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-away-'))
  // Accepts connections and never responds.
  const silent = createServer(() => {}).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const { port } = silent.address() as AddressInfo
  const databaseUrl = `postgres://gatehouse@127.0.0.1:${port}/postgres`
  const child = spawn(process.execPath, [MAIN, 'start', '--database-url', databaseUrl], {
    env: {
      ...process.env,
      GATEHOUSE_DATA: folder,
      GATEHOUSE_OPERATOR_KEY: SECRETS.operatorKey,
      GATEHOUSE_SECRET_KEY: SECRETS.secretKey.toString('base64'),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let printed = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text
  })
  await expect.poll(() => printed).toContain('waiting for the database to become available')
  child.kill('SIGTERM')
  const [code] = await once(child, 'close')
  expect([code, printed.trim().split('\n').at(-1)]).toEqual([
    0,
    expect.stringContaining('"msg":"stopped"'),
  ])
  silent.close()
  rmSync(folder, { recursive: true, force: true })
})
