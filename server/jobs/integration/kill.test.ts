import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { forEachEngine, type TestEngine } from '../../storage/test-support/each-engine.testing.ts'
import {
  killProcesses,
  SECRETS,
  type ServerProcess,
  startProcess,
  storeFlags,
} from '../../test-support/server-process.testing.ts'
import { makeToken, sendRequest, type TestResponse } from '../../test-support/start.testing.ts'

// Kills a server process (SIGKILL) in the middle of a job; another one resumes the job.

/** Number of documents: several steps of a job. */
const COUNT = 4_000

/** Maximum number of changes. At least one must be killed before its end. */
const ATTEMPTS = 10

let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-jobs-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/**
 * Returns functions that start servers on the store of an engine, kill them and send them requests.
 */
async function servers(engine: TestEngine) {
  const location = engine.location()
  const socketPath = join(folder, `${engine.name}.sock`)
  const flags = storeFlags(location)
  const start = (): Promise<ServerProcess> =>
    startProcess([...flags, '--endpoint', `unix://${socketPath}`], { env: SECRETS })
  let token: string | undefined
  const call = async (
    method: string,
    path: string,
    body?: unknown,
    headers = {},
  ): Promise<TestResponse> => {
    token ??= await makeToken({ data: '', databaseUrl: undefined, ...location })
    return sendRequest(0, method, path, {
      socketPath,
      body,
      headers: { Authorization: `Bearer ${token}`, ...headers },
    })
  }
  const ended = async (job: string) => {
    // Rarely, because another node resumes the job of a killed one only after its lease.
    const rarely = { timeout: 90_000, interval: 200 }
    await expect.poll(async () => (await call('GET', job)).status, rarely).toBe(200)
    return (await call('GET', job)).json
  }
  const kill = async (server: ServerProcess): Promise<ServerProcess> => {
    server.signal('SIGKILL')
    expect(await server.exit).toEqual({ code: null, signal: 'SIGKILL' })
    return start()
  }
  return { start, call, ended, kill }
}

forEachEngine((engine) => {
  // Before the database is removed.
  afterEach(killProcesses)

  test(`${COUNT} documents are created and changed once, with a kill in each job`, async () => {
    const { start, call, ended, kill } = await servers(engine)
    const first = await start()
    const later = { Prefer: 'respond-async' }
    const documents = Array.from({ length: COUNT }, (_, n) => ({ id: `d${COUNT + n}`, n }))
    const posted = await call('POST', '/articles', documents, later)
    expect(posted.status).toBe(202)
    const second = await kill(first)
    const created = await ended(String(posted.headers.location))
    expect(created).toMatchObject({ state: 'done', done: COUNT, result: { created: COUNT } })

    let server = second
    let attempt = 0
    // A job may end before the kill, or before its progress is read again: then make another one.
    for (let resumed = false; !resumed; ) {
      expect(++attempt).toBeLessThanOrEqual(ATTEMPTS)
      const patched = await call('PATCH', '/articles', { attempt }, later)
      const job = String(patched.headers.location)
      for (let isEarly = true; isEarly; ) {
        const { json } = await call('GET', job)
        isEarly = json.done < COUNT * 0.05
      }
      server = await kill(server)
      const { status, json } = await call('GET', job)
      expect(json.done).toBeGreaterThanOrEqual(COUNT * 0.05)
      resumed = status === 206 && json.state === 'running'
      expect(await ended(job)).toMatchObject({ state: 'done', done: COUNT, found: COUNT })
    }

    const seen: unknown[] = []
    let path: string | undefined = '/articles?limit=1000'
    while (path !== undefined) {
      const page = await call('GET', path)
      seen.push(...page.json)
      path = /<([^>]+)>; rel="next"/.exec(String(page.headers.link))?.[1]
    }
    expect(seen).toEqual(documents.map((each) => ({ ...each, attempt })))
  })

  test('an import stores each document once, with a kill while it runs', async () => {
    const { start, call, ended, kill } = await servers(engine)
    const first = await start()
    const body = Array.from({ length: COUNT }, (_, n) => `{"id":"d${n}"}\n`).join('')
    const headers = { 'Content-Type': 'application/x-ndjson' }
    const posted = await call('POST', '/later', body, { ...headers, Prefer: 'respond-async' })
    expect(posted.status).toBe(202)
    const job = String(posted.headers.location)
    await expect.poll(async () => (await call('GET', job)).json.done).toBeGreaterThan(0)
    const second = await kill(first)
    expect(await ended(job)).toMatchObject({
      state: 'done',
      done: COUNT,
      found: COUNT,
      result: { created: COUNT, replaced: 0, skipped: 0, failed: 0, errors: [] },
    })

    // Without a job, complete transactions stay, and a repetition stores the others.
    const importing = call('POST', '/now', body, headers).catch(() => undefined)
    await expect.poll(async () => (await call('GET', '/now?limit=1')).json).toHaveLength(1)
    await kill(second)
    await importing
    const repeated = await call('POST', '/now?on-conflict=skip', body, headers)
    const { created, skipped, failed } = repeated.json
    expect([created + skipped, failed]).toEqual([COUNT, 0])
    expect(skipped).toBeGreaterThan(0)
    const counted = await call('GET', '/now?limit=1', undefined, { Prefer: 'count=exact' })
    expect(counted.headers['x-total-count']).toBe(String(COUNT))
  })
})
