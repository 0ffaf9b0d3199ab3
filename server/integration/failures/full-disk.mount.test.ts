import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { freePorts } from '../../endpoints/listeners/free-ports.testing.ts'
import { killProcesses, MAIN, startProcess } from '../../test-support/server-process.testing.ts'
import { sendRequest, type TestResponse } from '../../test-support/start.testing.ts'

// Tests a server whose data folder is on a small disk (tmpfs) that fills up. The disk is in a mount
// namespace that ends with the server.

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-full-'))
})
afterEach(async () => {
  await killProcesses()
  rmSync(folder, { recursive: true, force: true })
})

const MOUNT = ['unshare', '-m', 'sh', '-c', 'mount -t tmpfs -o size=16m none "$0" && exec "$@"']
const MIB = Buffer.alloc(1024 * 1024)

async function startOnSmallDisk() {
  const [port = 0] = await freePorts(1)
  const server = await startProcess(['--data', folder, '--endpoint', `tcp://127.0.0.1:${port}`], {
    through: [...MOUNT, folder],
  })
  // The path inside the server's mount namespace.
  const filler = `/proc/${server.pid}/root${folder}/filler`
  /** Creates a token with the command, inside the mount namespace. */
  const makeToken = (): string => {
    const command = [MAIN, 'token', 'create', '--name', 'tests', '--role', 'admin']
    const inside = ['-t', String(server.pid), '-m', process.execPath, ...command, '--data', folder]
    return execFileSync('nsenter', inside, { encoding: 'utf8' }).trim()
  }
  const token = makeToken()
  const call = (
    method: string,
    path: string,
    body?: unknown,
    headers = {},
  ): Promise<TestResponse> =>
    sendRequest(port, method, path, {
      body,
      headers: { Authorization: `Bearer ${token}`, ...headers },
    })
  return {
    server,
    makeToken,
    call,
    health: async () => (await call('GET', '/_api/health/ready')).json,
    fill() {
      for (const chunk of [MIB, Buffer.alloc(4_096)]) {
        try {
          for (;;) appendFileSync(filler, chunk)
        } catch (error) {
          expect(error).toMatchObject({ code: 'ENOSPC' })
        }
      }
    },
    free: () => rmSync(filler),
  }
}

test('on a full disk changes get 507 and reads continue, until there is space', async () => {
  const { server, makeToken, call, health, fill, free } = await startOnSmallDisk()
  expect((await call('POST', '/things', { id: 'kept' })).status).toBe(201)
  // Unused tokens: the first use of a token writes to the store.
  const tokens = [makeToken(), makeToken()]
  expect(await health()).toEqual({
    alive: true,
    ready: true,
    writable: true,
    reason: null,
    waiting: 0,
  })

  fill()
  const change = () => call('POST', '/things', { text: 'x'.repeat(50_000) })
  // The write-ahead log may have some space left.
  await expect.poll(async () => (await change()).status).toBe(507)
  expect((await change()).json).toEqual({
    id: 'insufficient_storage',
    message: 'The disk is full. Nothing was changed.',
  })
  await expect.poll(async () => (await health()).writable).toBe(false)
  const ready = await call('GET', '/_api/health/ready')
  expect(ready.status).toBe(200)
  expect(ready.json.reason).toContain('the disk is full')
  expect((await call('GET', '/_api/metrics')).text).toContain('gatehouse_store_writable 0')
  for (const path of ['/things/kept', '/things?limit=1', '/_api/endpoint', '/_api/audit']) {
    for (const token of tokens) {
      const read = await call('GET', path, undefined, { Authorization: `Bearer ${token}` })
      expect([path, read.status]).toEqual([path, 200])
    }
  }
  const unknown = await call('GET', '/things/kept', undefined, { Authorization: 'Bearer unknown' })
  expect(unknown.status).toBe(401)
  expect((await call('POST', '/_api/database', { name: 'more' })).status).toBe(507)
  const job = await call('POST', '/things', [{}], { Prefer: 'respond-async' })
  expect(job.status).toBe(507)

  free()
  await expect.poll(async () => (await health()).writable).toBe(true)
  expect((await change()).status).toBe(201)
  expect(await health()).toEqual({
    alive: true,
    ready: true,
    writable: true,
    reason: null,
    waiting: 0,
  })
  const count = (text: string) => server.printed().split(text).length - 1
  await expect.poll(() => count('the database accepts changes again')).toBe(1)
  expect(count('the database does not accept changes')).toBe(1)
  server.signal('SIGTERM')
  expect(await server.exit).toEqual({ code: 0, signal: null })
})

test('a full disk is detected without any change', async () => {
  const { health, fill, free } = await startOnSmallDisk()
  fill()
  await expect.poll(async () => (await health()).writable, { timeout: 30_000 }).toBe(false)
  free()
  await expect.poll(async () => (await health()).writable).toBe(true)
})
