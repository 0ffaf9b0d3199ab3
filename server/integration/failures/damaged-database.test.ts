import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { freePorts } from '../../endpoints/listeners/free-ports.testing.ts'
import { damagePages, pagesOf } from '../../storage/test-support/damage.testing.ts'
import {
  killProcesses,
  type ServerProcess,
  startProcess,
} from '../../test-support/server-process.testing.ts'
import { makeToken, sendRequest, type TestResponse } from '../../test-support/start.testing.ts'

// Tests a server process whose SQLite file has damaged pages.

const DOCUMENTS = 200
const ARRAY = 100
/** Minimum share of documents that stay readable with the damage below. */
const READABLE = 0.8

let data: string
let port: number
let token: string

beforeEach(async () => {
  data = mkdtempSync(join(tmpdir(), 'gatehouse-damaged-'))
  ;[port = 0] = await freePorts(1)
})
afterEach(async () => {
  await killProcesses()
  rmSync(data, { recursive: true, force: true })
})

const start = () => startProcess(['--data', data, '--endpoint', `tcp://127.0.0.1:${port}`])

async function stop(server: ServerProcess): Promise<void> {
  server.signal('SIGTERM')
  expect(await server.exit).toEqual({ code: 0, signal: null })
}

const call = (method: string, path: string, body?: unknown, headers = {}): Promise<TestResponse> =>
  sendRequest(port, method, path, {
    body,
    headers: { Authorization: `Bearer ${token}`, ...headers },
  })

const ids = Array.from({ length: DOCUMENTS }, (_, n) => `d${10_000 + n}`)

/** Stores the documents, stops the server, and damages some pages of the table. */
async function makeDamagedStore(): Promise<void> {
  const server = await start()
  token = await makeToken({ data, databaseUrl: undefined })
  for (let at = 0; at < DOCUMENTS; at += ARRAY) {
    const some = ids.slice(at, at + ARRAY).map((id) => ({ id, text: 'x'.repeat(2_500) }))
    expect((await call('POST', '/things', some)).status).toBe(201)
  }
  await stop(server)
  const file = join(data, 'gatehouse.sqlite')
  const leaves = pagesOf(file, 'documents').filter(({ isLeaf }) => isLeaf)
  damagePages(
    file,
    leaves.filter((_, at) => at % 10 === 5),
  )
}

/** Reads every document; returns the ids by status. */
async function readAll(): Promise<Map<number, string[]>> {
  const statuses = new Map<number, string[]>()
  const waiting = [...ids]
  const read = async () => {
    for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
      const { status } = await call('GET', `/things/${id}`)
      statuses.set(status, [...(statuses.get(status) ?? []), id])
    }
  }
  await Promise.all(Array.from({ length: 8 }, read))
  return statuses
}

test('a damaged page returns 503 and other data is served, also after a restart', async () => {
  await makeDamagedStore()
  for (const life of [1, 2]) {
    const server = await start()
    const statuses = await readAll()
    expect([...statuses.keys()].sort()).toEqual([200, 503])
    const readable = statuses.get(200) ?? []
    const unreadable = statuses.get(503) ?? []
    expect(readable.length).toBeGreaterThan(DOCUMENTS * READABLE)

    const refused = await call('GET', `/things/${unreadable[0]}`)
    expect(refused.json).toMatchObject({
      id: 'unavailable',
      message: 'This part of the database is damaged and cannot be read.',
    })
    // A change to an unreadable document is rejected and leaves its neighbors intact.
    expect((await call('PUT', `/things/${unreadable[0]}`, {})).status).toBe(503)
    expect((await call('PUT', `/things/${readable[0]}`, { life })).status).toBe(200)
    expect((await call('POST', '/others', { id: `o${life}` })).status).toBe(201)
    expect((await call('GET', `/things/${readable[0]}`)).json).toMatchObject({ life })
    expect((await call('GET', '/_api/health/ready')).status).toBe(200)

    // Each kind of request that meets damage is logged once.
    const lines = server
      .printed()
      .split('\n')
      .filter((line) => line.includes('"level":50'))
    expect(lines.length).toBeGreaterThan(0)
    expect(lines.length).toBeLessThan(10)
    for (const line of lines) expect(line).toContain('database disk image is malformed')
    expect(lines[0]).toContain('restore a backup')
    await stop(server)
  }
})

test('a job over a damaged page fails, and others continue', async () => {
  await makeDamagedStore()
  await start()
  const over = await call('DELETE', '/things', undefined, { Prefer: 'respond-async' })
  expect(over.status).toBe(202)
  const job = String(over.headers.location)
  await expect.poll(async () => (await call('GET', job)).json.state).toBe('failed')
  expect((await call('GET', job)).json.failure).toMatchObject({ id: 'unavailable' })

  const documents = Array.from({ length: 10 }, (_, n) => ({ id: `o${n}` }))
  const other = await call('POST', '/others', documents, { Prefer: 'respond-async' })
  expect(other.status).toBe(202)
  const path = String(other.headers.location)
  await expect.poll(async () => (await call('GET', path)).json.state).toBe('done')
})
