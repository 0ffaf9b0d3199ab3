import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { startProcess } from '../../test-support/server-process.testing.ts'
import { makeToken, sendRequest, type TestNode } from '../../test-support/start.testing.ts'
import { KeepAliveClient } from '../listeners/keep-alive-client.testing.ts'
import { expectListening, listeningAddresses } from '../listeners/kernel-sockets.testing.ts'
import {
  add,
  createEndpointFixture,
  DONE,
  dataFrom,
  listenersOf,
  remove,
} from './endpoint-fixture.testing.ts'

// Everything that can keep an endpoint from being opened, on a real server with real sockets. Each
// case checks that nothing is left behind.

const fixture = createEndpointFixture()
const { start, occupy, release } = fixture

interface Rejection {
  readonly status: number
  readonly errorNum: number
  readonly message: RegExp
}

/**
 * Adds an endpoint that must be rejected and checks that no row, listener, socket or file is left.
 * A connection to the first endpoint must stay open.
 */
async function expectRejected(
  node: TestNode,
  endpoint: string,
  rejection: Rejection,
): Promise<void> {
  const readState = async () => ({
    endpoints: (await node.request('GET', '/_api/endpoint')).json,
    listeners: (await listenersOf(node)).map((each) => [each.endpoint, each.state, each.revision]),
    files: readdirSync(fixture.folder),
  })
  const witness = await KeepAliveClient.open({ port: node.port })
  await witness.request()
  const before = await readState()
  const sockets = await listeningAddresses(process.pid)
  const { status, json, headers } = await add(node, endpoint)
  expect(json).toEqual({
    error: true,
    code: rejection.status,
    errorNum: rejection.errorNum,
    errorMessage: expect.stringMatching(rejection.message),
    field: rejection.status < 500 ? '/endpoint' : undefined,
    // The message ends in the same code, for people.
    systemCode: /\(([A-Z_]+)\)$/.exec(json.errorMessage)?.[1],
  })
  expect(status).toBe(rejection.status)
  expect(headers['content-type']).toBe('application/json; charset=utf-8')
  expect(await readState()).toEqual(before)
  await expectListening(process.pid, sockets)
  expect(await witness.request()).toMatchObject({ status: 200, close: false })
  witness.leave()
}

describe('an endpoint is rejected, and leaves nothing behind, on', () => {
  test('a port used by another program', async () => {
    const node = await start()
    await occupy({ port: fixture.port, host: '127.0.0.1' })
    await expectRejected(node, fixture.address, {
      status: 409,
      errorNum: 1200,
      message: /^Port [0-9]+ on 127\.0\.0\.1 is used by another program\..* \(EADDRINUSE\)$/,
    })
    expect(await dataFrom({ port: fixture.port, host: '127.0.0.1' })).toBe('mine')
    // A repeated request gives the same result: no state was kept.
    await expectRejected(node, fixture.address, {
      status: 409,
      errorNum: 1200,
      message: /EADDRINUSE/,
    })
    release()
    expect((await add(node, fixture.address)).json).toEqual(DONE)
  })

  test('every address, while another program uses the port on one', async () => {
    const node = await start()
    await occupy({ port: fixture.port, host: '127.0.0.1' })
    const rejection = { status: 409, errorNum: 1200, message: /another program.*\(EADDRINUSE\)$/ }
    await expectRejected(node, `tcp://0.0.0.0:${fixture.port}`, rejection)
    await expectRejected(node, `tcp://localhost:${fixture.port}`, rejection)
  })

  // Linux lets a socket listen on a multicast or broadcast address, but no client can connect to it.
  test.each([
    ['an address of another machine', '192.0.2.1'],
    ['a multicast address', '224.0.0.1'],
    ['a broadcast address', '255.255.255.255'],
    ['the broadcast address of a network', '127.255.255.255'],
  ])('%s', async (_, host) => {
    await expectRejected(await start(), `tcp://${host}:${fixture.port}`, {
      status: 400,
      errorNum: 10,
      message: new RegExp(
        `^${RegExp.escape(host)} is not an address of this machine\\..* \\(EADDRNOTAVAIL\\)$`,
      ),
    })
  })

  test('a name that does not resolve', async () => {
    await expectRejected(await start(), `tcp://nowhere.invalid:${fixture.port}`, {
      status: 400,
      errorNum: 10,
      message: /^The host name nowhere\.invalid cannot be resolved\. \((ENOTFOUND|EAI_AGAIN)\)$/,
    })
  })

  test('ssl without a certificate', async () => {
    await expectRejected(await start(), `ssl://127.0.0.1:${fixture.port}`, {
      status: 400,
      errorNum: 10,
      message:
        /^An ssl endpoint requires a certificate\. Add one in the console under Certificates, /,
    })
  })

  test('a unix socket that another program listens on', async () => {
    const node = await start()
    const path = join(fixture.folder, 'live.sock')
    await occupy({ path })
    await expectRejected(node, `unix://${path}`, {
      status: 409,
      errorNum: 1200,
      message: /^Another program listens on .*live\.sock\..* \(EADDRINUSE\)$/,
    })
    expect(await dataFrom({ path })).toBe('mine')
  })

  test('a unix socket in the data folder or in a folder that others can write to', async () => {
    const node = await start()
    const reserved = { status: 400, errorNum: 10, message: /contains the data or the keys/ }
    await expectRejected(node, `unix://${join(node.data, 'gatehouse.db-journal')}`, reserved)
    symlinkSync(node.data, join(fixture.folder, 'link'))
    await expectRejected(node, `unix://${join(fixture.folder, 'link', 'a.sock')}`, reserved)
    const open = join(fixture.folder, 'open')
    mkdirSync(open)
    chmodSync(open, 0o777)
    await expectRejected(node, `unix://${join(open, 'a.sock')}`, {
      status: 400,
      errorNum: 10,
      message: /Any user can write to/,
    })
  })

  test('the path of a file, which is not changed', async () => {
    const node = await start()
    const path = join(fixture.folder, 'notes.txt')
    writeFileSync(path, 'keep me')
    await expectRejected(node, `unix://${path}`, {
      status: 409,
      errorNum: 1200,
      message: /notes\.txt exists and is not a socket\..* \(EEXIST\)$/,
    })
    expect(readFileSync(path, 'utf8')).toBe('keep me')
    mkdirSync(join(fixture.folder, 'folder'))
    await expectRejected(node, `unix://${join(fixture.folder, 'folder')}`, {
      status: 409,
      errorNum: 1200,
      message: /EEXIST/,
    })
  })

  test('a path whose folder is missing or not a folder', async () => {
    const node = await start()
    const rejection = {
      status: 400,
      errorNum: 10,
      message: /Check that its folder exists\. \(ENO[A-Z]+\)$/,
    }
    await expectRejected(node, `unix://${join(fixture.folder, 'missing', 'a.sock')}`, rejection)
    writeFileSync(join(fixture.folder, 'file'), '')
    await expectRejected(node, `unix://${join(fixture.folder, 'file', 'a.sock')}`, rejection)
  })

  test.each([
    ['127.0.0.1', '0.0.0.0'],
    ['0.0.0.0', '127.0.0.1'],
    ['127.0.0.1', 'localhost'],
    ['localhost', '127.0.0.1'],
    ['[::1]', '[::]'],
  ])('a port that another endpoint uses on %s: %s', async (has, wants) => {
    const node = await start()
    const holder = `tcp://${has}:${fixture.port}`
    expect((await add(node, holder)).status).toBe(200)
    await expectRejected(node, `tcp://${wants}:${fixture.port}`, {
      status: 409,
      errorNum: 1200,
      message: new RegExp(`used by the endpoint ${RegExp.escape(holder)}\\..* \\(EADDRINUSE\\)$`),
    })
  })

  test('a port below 1024, without permission', async () => {
    const data = join(fixture.folder, 'data')
    const flags = ['--data', data, '--endpoint', fixture.address, '--log', 'info']
    // Drop the capability that lets root bind these ports.
    const without = ['--bounding-set=-net_bind_service', '--inh-caps=-net_bind_service']
    const through = process.getuid?.() === 0 ? ['setpriv', ...without] : []
    const server = await startProcess(flags, { through })
    const before = await listeningAddresses(server.pid)
    const headers = { Authorization: `Bearer ${await makeToken({ data, databaseUrl: undefined })}` }
    const list = (await sendRequest(fixture.port, 'GET', '/_api/endpoint', { headers })).json
    const low = await lowPort()
    const response = await sendRequest(fixture.port, 'POST', '/_api/endpoint', {
      body: { endpoint: `tcp://127.0.0.1:${low}`, databases: [] },
      headers,
    })
    if (low >= unprivileged()) {
      // Some containers let all users bind every port, so the request succeeds.
      expect(response.json).toEqual(DONE)
      return
    }
    expect(response.json).toEqual({
      error: true,
      code: 403,
      errorNum: 11,
      errorMessage: 'Ports below 1024 require a system permission. Choose 1024 or higher. (EACCES)',
      field: '/endpoint',
      systemCode: 'EACCES',
    })
    expect(response.status).toBe(403)
    await expectListening(server.pid, before)
    expect((await sendRequest(fixture.port, 'GET', '/_api/endpoint', { headers })).json).toEqual(
      list,
    )
  })
})

const unprivileged = () =>
  Number(readFileSync('/proc/sys/net/ipv4/ip_unprivileged_port_start', 'utf8'))

/** Returns a port below 1024 on which nothing listens. */
async function lowPort(): Promise<number> {
  for (let low = 1023; low > 900; low--) {
    const responses = await KeepAliveClient.open({ port: low }).then(
      (client) => {
        client.leave()
        return true
      },
      () => false,
    )
    if (!responses) return low
  }
  throw new Error('every port from 901 to 1023 is taken')
}

describe('a change that cannot be stored', () => {
  /** Makes the database reject all changes of endpoints; it can still be read. */
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

  test('leaves no socket of an added endpoint', async () => {
    const node = await start()
    refuseChanges(node)
    const path = join(fixture.folder, 'a.sock')
    for (const endpoint of [fixture.address, `unix://${path}`]) {
      await expectRejected(node, endpoint, {
        status: 500,
        errorNum: 4,
        message: /An unexpected error/,
      })
    }
    expect(existsSync(path)).toBe(false)
  })

  test('keeps an endpoint that was to be removed or remapped', async () => {
    const node = await start()
    expect((await add(node, fixture.address)).json).toEqual(DONE)
    const before = (await node.request('GET', '/_api/endpoint')).json
    refuseChanges(node)
    const remapped = { endpoint: fixture.address, databases: ['ada'] }
    expect((await node.request('POST', '/_api/endpoint', remapped)).status).toBe(500)
    expect((await remove(node, fixture.address)).status).toBe(500)
    expect((await node.request('GET', '/_api/endpoint')).json).toEqual(before)
    const there = await node.request('GET', '/_api/endpoint', undefined, { port: fixture.port })
    expect(there.json).toEqual(before)
    // Neither is rejected as the last admin endpoint, so both still count.
    for (const endpoint of [fixture.address, node.address]) {
      expect((await remove(node, endpoint)).status).toBe(500)
    }
  })
})

test('the IPv4 and IPv6 wildcards of a port are two endpoints', async () => {
  const node = await start()
  for (const host of ['0.0.0.0', '[::]']) {
    expect((await add(node, `tcp://${host}:${fixture.port}`)).json).toEqual(DONE)
    const at = host === '[::]' ? '::1' : '127.0.0.1'
    expect((await sendRequest(fixture.port, 'GET', '/_api/health', { host: at })).status).toBe(200)
  }
})
