import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import { verifyAuditLog } from '../cli/commands/audit-verify.ts'
import { openStore, type StoreLocation } from '../storage/open.ts'
import { forEachEngine, makeDatabase } from '../storage/test-support/each-engine.testing.ts'
import { sendUntilConfirmed } from '../test-support/not-confirmed.testing.ts'
import { operatorSession } from '../test-support/operator-session.testing.ts'
import { MAIN, storeFlags } from '../test-support/server-process.testing.ts'
import { sendRequest, startForTest } from '../test-support/start.testing.ts'

// Tests the commands as an operator uses them: a backup during writes, a restore, and a node on the
// restored store. The contents of backups are tested in storage/backup.

const run = promisify(execFile)
let parent: string
let folder: string
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'gatehouse-backup-'))
  folder = join(parent, 'backup')
})
afterEach(() => rmSync(parent, { recursive: true }))

/** Required by nodes on PostgreSQL. */
const KEYS = { operatorKey: 'operator-key-of-tests-alone', secretKey: Buffer.alloc(32, 1) }

const settingsOf = (location: StoreLocation) =>
  'data' in location ? { data: location.data } : { databaseUrl: location.databaseUrl, ...KEYS }

async function gatehouse(location: StoreLocation, ...words: string[]): Promise<string> {
  const env = { PATH: process.env.PATH }
  const { stdout } = await run(process.execPath, [MAIN, ...words, ...storeFlags(location)], { env })
  return stdout
}

/** Equivalent to `gatehouse audit verify`. */
async function verify(location: StoreLocation, last?: string): Promise<string> {
  const store = await openStore(location, 'tool')
  return verifyAuditLog(store, last).finally(store.close)
}

async function emptyLocation(like: StoreLocation): Promise<StoreLocation> {
  if ('data' in like) return { data: join(parent, 'restored') }
  const database = await makeDatabase({ empty: true })
  onTestFinished(() => database.remove())
  return database.location
}

forEachEngine((engine) => {
  test('a backup taken during writes restores a consistent state', async () => {
    const location = engine.location()
    const node = await startForTest(settingsOf(location))
    const cookie = await operatorSession(node)
    const logBefore = await verify(location)

    // Writes pairs of documents; each pair is one atomic request.
    let written = 0
    let stopped = false
    onTestFinished(() => {
      stopped = true
    })
    const writing = (async () => {
      while (!stopped) {
        const pair = [{ id: `${written}-a` }, { id: `${written}-b` }]
        const send = () => node.request('POST', '/pairs', pair)
        expect((await sendUntilConfirmed(send)).status).toBe(201)
        written++
      }
    })()
    await expect.poll(() => written).toBeGreaterThan(5)
    const atStart = written
    const output = await gatehouse(location, 'backup', folder)
    const atEnd = written
    stopped = true
    await writing
    await node.stop()
    expect(atEnd).toBeGreaterThan(atStart)
    expect(output).toMatch(/^Backed up \d+ documents and 1 endpoint \(\d+\.\d MB\) to /)
    expect(output).toContain(
      engine.name === 'sqlite'
        ? 'The backup contains operator.key and secret.key. Keep it as secret as the server.'
        : 'Store GATEHOUSE_OPERATOR_KEY and GATEHOUSE_SECRET_KEY with it.',
    )

    const target = await emptyLocation(location)
    const restored = await gatehouse(target, 'restore', folder)
    expect(restored).toContain('All sessions have ended')
    // The restored audit log continues the chain of the backup.
    await verify(target, logBefore)

    const second = await startForTest({ ...settingsOf(target), endpoints: [] })
    onTestFinished(() => second.stop())
    const askSecond = (path: string, headers: Record<string, string>) =>
      sendUntilConfirmed(() => sendRequest(second.port, 'GET', path, { headers }))
    const token = { Authorization: `Bearer ${node.token}` }
    const ids: string[] = []
    for (let after = ''; ; ) {
      const page = (await askSecond(`/pairs?limit=1000&after=${after}`, token)).json
      if (page.length === 0) break
      ids.push(...page.map(({ id }: { id: string }) => id))
      after = ids.at(-1) ?? ''
    }
    const pairs = ids.length / 2
    const expected = Array.from({ length: pairs }, (_, at) => [`${at}-a`, `${at}-b`]).flat()
    expect(ids.sort()).toEqual(expected.sort())
    expect(pairs).toBeGreaterThanOrEqual(atStart)
    expect(pairs).toBeLessThanOrEqual(atEnd + 1)
    // Tokens remain valid after a restore; sessions do not.
    expect((await askSecond('/_api/session', { Cookie: cookie })).json).toBeNull()
    expect((await askSecond('/_api/audit?what=store.restore', token)).json.rows).toMatchObject([
      { actor: 'command-line', action: 'store.restore', after: { engine: engine.name } },
    ])
    // The operator key is the one of the backed-up server.
    await operatorSession(second)
  })
})

forEachEngine((engine) => {
  test('indexes are built, feeds begin again and webhooks are paused after a restore', async () => {
    const node = await startForTest(settingsOf(engine.location()))
    const documents = [{ id: 'a', n: 1 }, { id: 'b' }]
    await sendUntilConfirmed(() => node.request('POST', '/articles', documents))
    const index = { fields: ['n'] }
    await sendUntilConfirmed(() => node.request('PUT', '/_index/articles/by-n', index))
    const turnOn = () => node.request('PUT', '/_feed/articles', {})
    const { last } = (await sendUntilConfirmed(turnOn)).json
    const hook = { name: 'hook', url: 'https://example.org', database: '_system' }
    await sendUntilConfirmed(() =>
      node.request('POST', '/_api/webhook', { ...hook, collections: ['articles'] }),
    )
    await gatehouse(engine.location(), 'backup', folder)
    await node.stop()
    const target = await emptyLocation(engine.location())
    await gatehouse(target, 'restore', folder)
    const second = await startForTest({ ...settingsOf(target), endpoints: [] })
    onTestFinished(() => second.stop())
    const headers = { Authorization: `Bearer ${node.token}` }
    const askSecond = (path: string) =>
      sendUntilConfirmed(() => sendRequest(second.port, 'GET', path, { headers }))
    await expect
      .poll(async () => (await askSecond('/_index/articles')).json)
      .toMatchObject([{ name: 'by-n', state: 'ready' }])
    const changes = '/_feed/articles/changes'
    expect((await askSecond(`${changes}?after=${last}`)).status).toBe(410)
    expect((await askSecond('/_api/webhook')).json).toMatchObject([
      { name: 'hook', state: 'paused', reason: 'The database was restored from a backup.' },
    ])
    const created = { body: { id: 'c' }, headers }
    await sendUntilConfirmed(() => sendRequest(second.port, 'POST', '/articles', created))
    expect((await askSecond(changes)).json).toMatchObject([{ id: 'c', change: 'created' }])
    const found = await askSecond('/articles?n=1')
    expect(found.headers['query-plan']).toBe('index=by-n; scanned=1; returned=1')
    expect(found.json).toEqual([{ id: 'a', n: 1 }])
  })
})

test('a restore is rejected while a node runs on the data folder', async () => {
  const node = await startForTest()
  onTestFinished(() => node.stop())
  await gatehouse({ data: node.data }, 'backup', folder)
  await expect(gatehouse({ data: node.data }, 'restore', folder)).rejects.toMatchObject({
    code: 1,
    stderr: `Another Gatehouse process is using the data folder ${node.data}. Stop it first, or use another folder with --data.\n`,
  })
  expect((await node.request('POST', '/things', { id: 'later' })).status).toBe(201)
})
