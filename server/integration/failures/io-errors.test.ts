import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { freePorts } from '../../endpoints/listeners/free-ports.testing.ts'
import { killProcesses, startProcess } from '../../test-support/server-process.testing.ts'
import { makeToken, sendRequest, type TestResponse } from '../../test-support/start.testing.ts'

// Tests a server whose SQLite calls fail with I/O errors: no error may end the process.

const FAULTS = pathToFileURL(
  join(import.meta.dirname, '../../storage/test-support/faults.testing.ts'),
).href

let data: string

beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'gatehouse-io-'))
})
afterEach(async () => {
  await killProcesses()
  rmSync(data, { recursive: true, force: true })
})

/**
 * Requests of each kind: documents, jobs, sizes, people, audit log, endpoints, and lists of the
 * console.
 */
const REQUESTS: readonly (readonly [method: string, path: string, body?: unknown])[] = [
  ['GET', '/things/kept'],
  ['GET', '/things/missing'],
  ['GET', '/things?limit=5'],
  ['GET', '/_db/other/things/kept'],
  ['PUT', '/things/changed', { n: 1 }],
  ['POST', '/things', { n: 1 }],
  ['POST', '/things', [{ n: 1 }, { n: 2 }]],
  ['PATCH', '/things', { n: 3 }],
  ['GET', '/_api/database'],
  ['POST', '/_api/database', { name: 'made' }],
  ['DELETE', '/_api/database/made'],
  ['GET', '/_api/endpoint'],
  ['GET', '/_api/audit'],
  ['GET', '/_api/size'],
  ['GET', '/_api/user'],
  ['GET', '/_api/token'],
  ['POST', '/_api/token', { name: 'more', role: 'viewer' }],
  ['PUT', '/_schema/checked', { type: 'object' }],
  ['POST', '/checked', { n: 1 }],
  ['GET', '/_api/metrics'],
  ['GET', '/_console/'],
]

/** Starts a server whose SQLite calls can be made to fail. */
async function startFaulty() {
  const [port = 0] = await freePorts(1)
  const server = await startProcess(['--data', data, '--endpoint', `tcp://127.0.0.1:${port}`], {
    env: { NODE_OPTIONS: `--import=${FAULTS}` },
  })
  const token = await makeToken({ data, databaseUrl: undefined })
  return {
    server,
    call: (method: string, path: string, body?: unknown, headers = {}): Promise<TestResponse> =>
      sendRequest(port, method, path, {
        body,
        headers: { Authorization: `Bearer ${token}`, ...headers },
      }),
    /** Starts the next phase, in which one of `every` calls fails. */
    async fail(every: number): Promise<void> {
      server.signal('SIGUSR2')
      await expect.poll(server.printed).toContain(`faults: one of ${every}\n`)
    },
  }
}

test('the process survives I/O errors in every part, and recovers', async () => {
  const { server, call, fail } = await startFaulty()
  let ended = false
  void server.exit.then(() => {
    ended = true
  })
  await call('POST', '/things', { id: 'kept' })
  await call('POST', '/_api/database', { name: 'other' })
  expect((await call('GET', '/things/kept')).status).toBe(200)

  for (const every of [1, 2, 3, 7]) {
    await fail(every)
    for (let round = 0; round < 5; round++) {
      const responses = await Promise.all([
        ...REQUESTS.map(([method, path, body]) => call(method, path, body)),
        call('DELETE', '/things?n=2', undefined, { Prefer: 'respond-async' }),
        call('GET', '/things?n=1', undefined, { Prefer: 'respond-async' }),
        call('GET', '/things/kept', undefined, { Authorization: 'Bearer not-valid' }),
        call('GET', '/things/kept', undefined, { Cookie: '__Host-session=not-valid' }),
      ])
      for (const { status, text } of responses) expect(status, text).not.toBe(500)
      // A change by a command makes the server sync, on requests and on its timer.
      await makeToken({ data, databaseUrl: undefined })
      expect((await call('GET', '/_api/health/live')).status).toBe(200)
      expect((await call('GET', '/_api/health/ready')).status).toBe(200)
    }
    // Timers fail too: this line comes from the periodic sync.
    await expect.poll(server.printed).toContain('cannot read the changes of other nodes')
    expect(ended, server.printed()).toBe(false)
  }
  await fail(0)
  expect((await call('GET', '/things/kept')).status).toBe(200)
  expect((await call('GET', '/_db/other/things')).status).toBe(200)
  expect((await call('POST', '/things', { id: 'after' })).status).toBe(201)
})

test('a server stops properly while SQLite fails', async () => {
  const { server, call, fail } = await startFaulty()
  await call('POST', '/things', [{ n: 1 }])
  await call('PATCH', '/things', { n: 2 }, { Prefer: 'respond-async' })
  await fail(1)
  server.signal('SIGTERM')
  expect(await server.exit).toEqual({ code: 0, signal: null })
})
