import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { freePorts } from '../endpoints/listeners/free-ports.testing.ts'
import {
  killProcesses,
  type ServerProcess,
  startProcess,
} from '../test-support/server-process.testing.ts'
import { makeToken, sendRequest, type TestResponse } from '../test-support/start.testing.ts'
import { injectFault } from './test-support/inject-fault.testing.ts'

// Simulates a failing disk: system calls of the server return EIO.

let data: string
let port: number
let token: string
let server: ServerProcess

beforeEach(async () => {
  data = mkdtempSync(join(tmpdir(), 'gatehouse-eio-'))
  ;[port = 0] = await freePorts(1)
  server = await start()
  token = await makeToken({ data, databaseUrl: undefined })
})
afterEach(async () => {
  await killProcesses()
  rmSync(data, { recursive: true, force: true })
})

const start = () => startProcess(['--data', data, '--endpoint', `tcp://127.0.0.1:${port}`])

const call = (method: string, path: string, body?: unknown): Promise<TestResponse> =>
  sendRequest(port, method, path, { body, headers: { Authorization: `Bearer ${token}` } })

async function kill(): Promise<void> {
  server.signal('SIGKILL')
  await server.exit
}

const log = () => join(data, 'gatehouse.sqlite-wal')
const WRITES = 6

test('a change whose sync failed is reported as unknown, and may exist after a restart', async () => {
  expect((await call('POST', '/things', { id: 'before' })).status).toBe(201)
  const stop = await injectFault(server.pid, {
    calls: 'fsync,fdatasync',
    path: log(),
    error: 'EIO',
  })
  for (let n = 0; n < WRITES; n++) {
    const response = await call('POST', '/things', { id: `w${n}` })
    expect(response.status).toBe(503)
    expect(response.json).toMatchObject({
      id: 'unavailable',
      message: expect.stringContaining('The database did not confirm the change'),
      ids: [`w${n}`],
    })
  }
  // Reads do not sync the log.
  expect((await call('GET', '/things/before')).status).toBe(200)
  await kill()
  expect(await stop()).toBeGreaterThanOrEqual(WRITES)

  server = await start()
  expect((await call('GET', '/things/before')).status).toBe(200)
  for (let n = 0; n < WRITES; n++) {
    expect([200, 404]).toContain((await call('GET', `/things/w${n}`)).status)
  }
  expect((await call('POST', '/things', { id: 'after' })).status).toBe(201)
})

test('a change whose sync failed does not reappear after a later change', async () => {
  expect((await call('POST', '/things', { id: 'before' })).status).toBe(201)
  const stop = await injectFault(server.pid, {
    calls: 'fsync,fdatasync',
    path: log(),
    error: 'EIO',
  })
  expect((await call('POST', '/things', { id: 'unknown' })).status).toBe(503)
  expect(await stop()).toBeGreaterThan(0)
  expect((await call('GET', '/things/unknown')).status).toBe(404)
  expect((await call('POST', '/things', { id: 'after' })).status).toBe(201)
  await kill()
  server = await start()
  expect((await call('GET', '/things/before')).status).toBe(200)
  expect((await call('GET', '/things/after')).status).toBe(200)
  expect((await call('GET', '/things/unknown')).status).toBe(404)
})

test('unreadable documents are 503, and are served again when the disk recovers', async () => {
  const ids = Array.from({ length: 300 }, (_, n) => `d${1_000 + n}`)
  const documents = ids.map((id) => ({ id, text: 'x'.repeat(1_000) }))
  expect((await call('POST', '/things', documents)).status).toBe(201)
  // The restart empties the page cache, so that reads access the disk.
  server.signal('SIGTERM')
  await server.exit
  server = await start()
  const readAll = async () => {
    const statuses: number[] = []
    for (const id of ids) statuses.push((await call('GET', `/things/${id}`)).status)
    return new Set(statuses)
  }
  expect((await call('GET', '/_api/health/ready')).status).toBe(200)
  const stop = await injectFault(server.pid, {
    calls: 'pread64',
    path: join(data, 'gatehouse.sqlite'),
    error: 'EIO',
  })
  expect(await readAll()).toContain(503)
  expect((await call('GET', '/_api/health/ready')).status).toBe(200)
  expect(await stop()).toBeGreaterThan(0)
  expect([...(await readAll())]).toEqual([200])
})
