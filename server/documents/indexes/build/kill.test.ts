import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { forEachEngine } from '../../../storage/test-support/each-engine.testing.ts'
import {
  killProcesses,
  SECRETS,
  type ServerProcess,
  startProcess,
  storeFlags,
} from '../../../test-support/server-process.testing.ts'
import { makeToken, sendRequest, type TestResponse } from '../../../test-support/start.testing.ts'

// Kills a server process (SIGKILL) while it builds an index. On SQLite, the next process continues the
// build; on PostgreSQL, another node that runs already.

const COUNT = 30_000

let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-indexes-'))
})
afterEach(killProcesses)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

forEachEngine((engine) => {
  test('a build continues after a kill, and the index finds every document', async () => {
    const location = engine.location()
    const socketOf = (name: string) => join(folder, `${engine.name}-${name}.sock`)
    const flags = storeFlags(location)
    const start = (name: string): Promise<ServerProcess> =>
      startProcess([...flags, '--node', name, '--endpoint', `unix://${socketOf(name)}`], {
        env: SECRETS,
      })
    // The node that starts first builds the indexes.
    const first = await start('first')
    const [writer, successor] =
      engine.name === 'postgres' ? ['second', 'second'] : ['first', 'next']
    if (writer === successor) await start(successor)
    let socketPath = socketOf(writer)
    const token = await makeToken({ data: '', databaseUrl: undefined, ...location })
    const call = (method: string, path: string, body?: unknown): Promise<TestResponse> =>
      sendRequest(0, method, path, {
        socketPath,
        body,
        headers: { Authorization: `Bearer ${token}` },
      })
    const documents = Array.from({ length: COUNT }, (_, n) => ({
      id: `d${COUNT + n}`,
      author: `a${n % 3_000}`,
    }))
    const posted = await call('POST', '/articles', documents)
    expect(posted.status).toBe(202)
    const job = String(posted.headers.location)
    await expect.poll(async () => (await call('GET', job)).status, { timeout: 90_000 }).toBe(200)

    const [path, name] = ['/_index/articles', 'by-author']
    expect((await call('PUT', `${path}/${name}`, { fields: ['author'] })).status).toBe(201)
    const progress = async () => (await call('GET', path)).json[0].progress
    await expect.poll(progress, { timeout: 60_000, interval: 5 }).toBeGreaterThan(0.05)
    first.signal('SIGKILL')
    await first.exit
    if (writer !== successor) await start(successor)
    socketPath = socketOf(successor)
    const { state, progress: kept } = (await call('GET', path)).json[0]
    expect(state).toBe('building')
    expect(kept).toBeGreaterThan(0.05)
    await call('POST', '/articles', { id: 'later', author: 'a7' })
    await expect
      .poll(async () => (await call('GET', path)).json, { timeout: 90_000 })
      .toMatchObject([{ state: 'ready' }])
    const found = await call('GET', '/articles?author=a7')
    expect(found.headers['query-plan']).toBe('index=by-author; scanned=11; returned=11')
    expect(found.json).toEqual([
      ...documents.filter(({ author }) => author === 'a7'),
      { id: 'later', author: 'a7' },
    ])
  }, 180_000)
})
