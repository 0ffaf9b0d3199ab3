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

const COUNT = 12_000

/** Maximum number of builds. At least one must be killed before its end. */
const ATTEMPTS = 10

let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-indexes-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

forEachEngine((engine) => {
  // Before the database is removed.
  afterEach(killProcesses)

  test('a build continues after a kill, and the index finds every document', async () => {
    const location = engine.location()
    const flags = storeFlags(location)
    let socketPath = ''
    let started = 0
    /** Starts a node, which receives the next requests. */
    const start = (): Promise<ServerProcess> => {
      const name = `node${++started}`
      socketPath = join(folder, `${engine.name}-${name}.sock`)
      return startProcess([...flags, '--node', name, '--endpoint', `unix://${socketPath}`], {
        env: SECRETS,
      })
    }
    // The node that started first builds the indexes.
    let builder = await start()
    const token = await makeToken({ data: '', databaseUrl: undefined, ...location })
    const call = (method: string, path: string, body?: unknown): Promise<TestResponse> =>
      sendRequest(0, method, path, {
        socketPath,
        body,
        headers: { Authorization: `Bearer ${token}` },
      })
    const documents = Array.from({ length: COUNT }, (_, n) => ({
      id: `d${COUNT + n}`,
      author: `a${n % 1_200}`,
    }))
    const posted = await call('POST', '/articles', documents)
    expect(posted.status).toBe(202)
    const job = String(posted.headers.location)
    await expect.poll(async () => (await call('GET', job)).status, { timeout: 90_000 }).toBe(200)

    const [path, name] = ['/_index/articles', 'by-author']
    const read = async () => (await call('GET', path)).json[0]
    let attempt = 0
    // A build may end before the kill, or before its progress is read again: then start another.
    for (let resumed = false; !resumed; ) {
      expect(++attempt).toBeLessThanOrEqual(ATTEMPTS)
      const successor = engine.name === 'postgres' ? await start() : undefined
      expect((await call('PUT', `${path}/${name}`, { fields: ['author'] })).status).toBe(201)
      await expect
        .poll(read, { interval: 5 })
        .toSatisfy(({ state, progress }) => state === 'ready' || progress > 0.05)
      builder.signal('SIGKILL')
      await builder.exit
      builder = successor ?? (await start())
      const { state, progress } = await read()
      resumed = state === 'building'
      if (resumed) expect(progress).toBeGreaterThan(0.05)
      else expect((await call('DELETE', `${path}/${name}`)).status).toBe(200)
    }
    await call('POST', '/articles', { id: 'later', author: 'a7' })
    await expect
      .poll(async () => (await call('GET', path)).json, { timeout: 90_000 })
      .toMatchObject([{ state: 'ready' }])
    // On SQLite, queries do not use indexes while the documents of the first request are written.
    const find = () => call('GET', '/articles?author=a7')
    await expect
      .poll(async () => (await find()).headers['query-plan'])
      .toBe('index=by-author; scanned=11; returned=11')
    expect((await find()).json).toEqual([
      ...documents.filter(({ author }) => author === 'a7'),
      { id: 'later', author: 'a7' },
    ])
  })
})
