import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type ListenOptions, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type EndpointCheck, partOfSystemCode } from '../../contract/endpoints/endpoint-check.ts'
import { createRateLimit } from '../../rate-limit.ts'
import { startForTest, type TestNode } from '../../test-support/start.testing.ts'
import { bind } from '../address.ts'
import { canListen, freePorts } from '../listeners/free-ports.testing.ts'
import { CHECKS_PER_MINUTE, CHECKS_PER_PERSON, createCheckLimit } from './check-limit.ts'

// A real server, and real sockets of other programs.

let node: TestNode
let folder: string
let port: number
const others: Server[] = []

beforeAll(async () => {
  node = await startForTest()
})
afterAll(() => node.stop())

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-check-'))
  ;[port = 0] = await freePorts(1)
})
afterEach(async () => {
  for (const server of others.splice(0)) await new Promise((resolve) => server.close(resolve))
  rmSync(folder, { recursive: true, force: true })
})

/** Starts another program; returns a function that counts its accepted connections. */
async function occupy(where: ListenOptions): Promise<() => number> {
  let accepted = 0
  const server = createServer((socket) => {
    accepted++
    socket.destroy()
  })
  server.listen({ ...where, exclusive: true })
  others.push(server)
  await once(server, 'listening')
  return () => accepted
}

async function check(endpoint: string): Promise<EndpointCheck> {
  const { status, json } = await node.request('POST', '/_api/endpoint-check', { endpoint })
  expect([status, json.node]).toEqual([200, 'test'])
  return json
}

const free = { available: true, field: null, systemCode: null, message: null, endpoint: null }

describe('a port', () => {
  test('that is free is bound and released', async () => {
    expect(await check(`tcp://127.0.0.1:${port}`)).toMatchObject(free)
    expect(await check(` tcp://127.0.0.1:${port}`)).toMatchObject({ field: 'scheme' })
    expect(await canListen(port, '0.0.0.0')).toBe(true)
  })

  test('used by another program is reported without a connection to it', async () => {
    const accepted = await occupy({ port, host: '127.0.0.1' })
    for (const host of ['127.0.0.1', '0.0.0.0', 'localhost']) {
      expect(await check(`tcp://${host}:${port}`)).toMatchObject({
        available: false,
        field: 'port',
        systemCode: 'EADDRINUSE',
        message: expect.stringMatching(/^Port .* is used by another program.*\(EADDRINUSE\)$/),
        endpoint: null,
      })
    }
    expect(accepted()).toBe(0)
  })

  test('used by an endpoint is reported with the endpoint', async () => {
    expect(await check(node.address)).toMatchObject({
      available: false,
      field: 'port',
      message: `The endpoint ${node.address} already exists.`,
      endpoint: node.address,
    })
    expect(await check(`tcp://0.0.0.0:${node.port}`)).toMatchObject({
      field: 'port',
      message: expect.stringContaining(`is used by the endpoint ${node.address}`),
      endpoint: node.address,
    })
  })

  test('can be added during a check, and checks change nothing', async () => {
    for (let round = 0; round < 10; round++) {
      const [, added] = await Promise.all([
        check(`tcp://0.0.0.0:${port}`),
        node.request('POST', '/_api/endpoint', {
          endpoint: `tcp://127.0.0.1:${port}`,
          databases: [],
        }),
        check(`tcp://localhost:${port}`),
      ])
      expect(added.status).toBe(200)
      const path = `/_api/endpoint/${encodeURIComponent(`tcp://127.0.0.1:${port}`)}`
      expect((await node.request('DELETE', path)).status).toBe(200)
    }
    const { json } = await node.request('GET', '/_api/endpoint')
    expect(json).toEqual([{ endpoint: node.address, databases: [] }])
  })
})

test('adding an endpoint waits for a running check of its port', async () => {
  const checking = createServer()
  const adding = createServer()
  others.push(adding)
  const held = Promise.withResolvers<void>()
  const check = bind(checking, { port, host: '0.0.0.0' }, async () => {
    await held.promise
    await new Promise((resolve) => checking.close(resolve))
  })
  const add = bind(adding, { port, host: '127.0.0.1' })
  await once(checking, 'listening')
  held.resolve()
  await Promise.all([check, add])
  expect(adding.listening).toBe(true)
})

test.each([
  ['tcp://192.0.2.1:8530', 'host', 'EADDRNOTAVAIL'],
  ['tcp://224.0.0.1:8530', 'host', 'EADDRNOTAVAIL'],
  ['tcp://239.255.255.255:8530', 'host', 'EADDRNOTAVAIL'],
  ['tcp://255.255.255.255:8530', 'host', 'EADDRNOTAVAIL'],
  ['tcp://127.255.255.255:8530', 'host', 'EADDRNOTAVAIL'],
  ['tcp://[fe80::1]:8530', 'host', 'EINVAL'],
  ['tcp://[fe80::1%nowhere0]:8530', 'host', 'EINVAL'],
  ['ssl://127.0.0.1:8530', 'scheme', null],
  ['http://127.0.0.1:8530', 'scheme', null],
  ['tcp://127.1:8530', 'host', null],
  ['tcp://127.0.0.1:99999', 'port', null],
  ['unix://run/a.sock', 'path', null],
])('the error of %s names the part %s (%s)', async (endpoint, field, systemCode) => {
  expect(await check(endpoint)).toMatchObject({
    available: false,
    field,
    systemCode,
    message: expect.stringMatching(/^.{10,}/),
  })
})

describe('a socket', () => {
  test('is not created by a check', async () => {
    expect(await check(`unix://${join(folder, 'a.sock')}`)).toMatchObject(free)
    expect(readdirSync(folder)).toEqual([])
  })

  test('of another program is reported and left as it is', async () => {
    const path = join(folder, 'a.sock')
    const accepted = await occupy({ path })
    expect(await check(`unix://${path}`)).toMatchObject({
      field: 'path',
      systemCode: 'EADDRINUSE',
      endpoint: null,
    })
    expect([existsSync(path), accepted()]).toEqual([true, process.platform === 'linux' ? 0 : 1])
  })

  test('left by a dead process can be replaced, and is not removed by a check', async () => {
    const path = join(folder, 'a.sock')
    await occupy({ path: `${path}.moving` })
    renameSync(`${path}.moving`, path)
    await new Promise((resolve) => others.pop()?.close(resolve))
    expect(await check(`unix://${path}`)).toMatchObject(free)
    expect(existsSync(path)).toBe(true)
  })

  test.each([
    ['a file', (path: string) => writeFileSync(path, 'mine'), 'EEXIST'],
    ['a folder', (path: string) => mkdirSync(path), 'EEXIST'],
  ])('cannot replace %s', async (_what, make, systemCode) => {
    const path = join(folder, 'a.sock')
    make(path)
    expect(await check(`unix://${path}`)).toMatchObject({ field: 'path', systemCode })
    expect(existsSync(path)).toBe(true)
  })

  test('requires an existing folder that is not the data folder', async () => {
    expect(await check(`unix://${join(folder, 'no', 'a.sock')}`)).toMatchObject({
      field: 'path',
      systemCode: 'ENOENT',
    })
    expect(await check(`unix://${join(node.data, 'a.sock')}`)).toMatchObject({
      field: 'path',
      systemCode: null,
      message: expect.stringContaining('contains the data'),
    })
  })

  test.each([
    ...['/boot', '/dev', '/etc', '/proc', '/root', '/sys', '/proc/self'].map(
      (each) => `${each}/a.sock`,
    ),
    '/run/docker.sock',
    '/var/run/docker.sock',
  ])('is not permitted at %s, which belongs to the system or a service', async (path) => {
    expect(await check(`unix://${path}`)).toMatchObject({
      field: 'path',
      systemCode: null,
      message: expect.stringContaining('belongs to the system or to another service'),
    })
  })

  test('is not permitted in a folder of the system that a symbolic link names', async () => {
    symlinkSync('/etc', join(folder, 'link'))
    expect(await check(`unix://${join(folder, 'link', 'a.sock')}`)).toMatchObject({
      message: expect.stringContaining('/etc/a.sock belongs to the system'),
    })
  })
})

test.each([
  ['EACCES', 'port', 'path'],
  ['EADDRINUSE', 'port', 'path'],
  ['EADDRNOTAVAIL', 'host', 'path'],
  ['EIO', undefined, 'path'],
])('%s belongs to the %s of a TCP address and to the %s of a socket', (code, ofPort, ofSocket) => {
  expect(partOfSystemCode('tcp', code)).toBe(ofPort)
  expect(partOfSystemCode('unix', code)).toBe(ofSocket)
})

describe('checks are limited', () => {
  test('by concurrency', async () => {
    const limit = createCheckLimit({ consume: () => 0 })
    const slow = Promise.withResolvers<void>()
    const running: Promise<void>[] = []
    const runAll = (personId: string) => {
      for (let count = 0; count < CHECKS_PER_PERSON; count++)
        running.push(limit.run(personId, () => slow.promise))
    }
    for (const person of ['bob', 'cy', 'ada']) runAll(person)
    await expect(limit.run('ada', async () => {})).rejects.toMatchObject({
      code: 'too-many-requests',
      message: 'You have 2 checks in progress, the maximum. Try again in 1 s.',
      headers: { 'Retry-After': '1' },
    })
    await limit.run('eve', async () => {})
    runAll('dan')
    await expect(limit.run('eve', async () => {})).rejects.toMatchObject({
      message: 'This node has 8 checks in progress, the maximum. Try again in 1 s.',
    })
    slow.resolve()
    await Promise.all(running)
    await limit.run('ada', async () => {})
  })

  test('per minute', async () => {
    let now = 0
    const limit = createCheckLimit(
      createRateLimit({ max: CHECKS_PER_MINUTE, period: 60_000, now: () => now }),
    )
    for (let count = 0; count < CHECKS_PER_MINUTE; count++) await limit.run('ada', async () => {})
    await expect(limit.run('ada', async () => {})).rejects.toMatchObject({
      message: '120 checks per minute are allowed. Try again in 60 s.',
    })
    now = 60_000
    await limit.run('ada', async () => {})
  })
})
