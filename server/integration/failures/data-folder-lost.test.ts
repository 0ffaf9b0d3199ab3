import { execFile } from 'node:child_process'
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openOperatorKey, openSecretKey } from '../../access/secrets/secret-files.ts'
import { openStore } from '../../storage/open.ts'
import { createVault } from '../../storage/vault.ts'
import { MAIN } from '../../test-support/server-process.testing.ts'
import { sendRequest, startForTest, type TestNode } from '../../test-support/start.testing.ts'

// Tests a node whose data folder is deleted or moved while it runs, and starts with keys but no
// database or with files that are incomplete.

let folder: string
let data: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-lost-'))
  data = join(folder, 'data')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe('a running node', () => {
  let node: TestNode
  beforeEach(async () => {
    node = await startForTest({ data })
    expect((await node.request('POST', '/things', { id: 'kept' })).status).toBe(201)
  })
  afterEach(() => node.stop())

  const health = (path = '') => sendRequest(node.port, 'GET', `/_api/health${path}`)
  const expectUnavailable = async () => {
    await expect.poll(async () => (await health()).status).toBe(503)
    const { json } = await health('/ready')
    expect(json).toMatchObject({ alive: true, ready: false })
    expect(json.reason).toContain('The database file was deleted, moved or replaced')
    // The reason is public, so it does not contain the path of the folder.
    expect(json.reason).not.toContain(data)
    expect((await health('/live')).status).toBe(200)
    for (const [method, path, body] of [
      ['GET', '/things/kept', undefined],
      ['GET', '/things', undefined],
      ['POST', '/things', { id: 'lost' }],
      ['PUT', '/things/kept', { id: 'kept', lost: true }],
      ['DELETE', '/things/kept', undefined],
      ['POST', '/_api/database', { name: 'lost' }],
    ] as const) {
      const response = await node.request(method, path, body)
      expect([method, path, response.status]).toEqual([method, path, 503])
      expect(response.text).toContain('restart the node')
    }
  }

  test('acknowledges nothing once its data folder is deleted', async () => {
    rmSync(data, { recursive: true })
    await expectUnavailable()
  })

  test('acknowledges nothing while its data folder is moved, and continues when it is back', async () => {
    renameSync(data, `${data}.away`)
    await expectUnavailable()
    renameSync(`${data}.away`, data)
    await expect.poll(async () => (await health()).status).toBe(200)
    expect((await node.request('GET', '/things/kept')).json).toEqual({ id: 'kept' })
    expect((await node.request('GET', '/things/lost')).status).toBe(404)
    expect((await node.request('POST', '/things', { id: 'later' })).status).toBe(201)
  })

  test('acknowledges nothing once its database is replaced by a copy', async () => {
    const path = join(data, 'gatehouse.sqlite')
    const other = new DatabaseSync(path)
    other.exec(`vacuum into '${path}.copy'`)
    other.close()
    renameSync(`${path}.copy`, path)
    await expectUnavailable()
  })

  test('continues after its database was vacuumed and its log truncated', async () => {
    const other = new DatabaseSync(join(data, 'gatehouse.sqlite'))
    other.exec('vacuum; pragma wal_checkpoint(truncate)')
    other.close()
    expect((await node.request('POST', '/things', { id: 'later' })).status).toBe(201)
    rmSync(join(data, 'gatehouse.sqlite-wal'))
    await expectUnavailable()
  })
})

describe('keys without a database', () => {
  test.each(['node', 'tool'] as const)('are rejected with instructions (%s)', async (role) => {
    openOperatorKey(data, undefined)
    const lost = {
      code: 'unavailable',
      message:
        `The data folder ${data} contains operator.key but no database. Run "gatehouse restore ` +
        'FOLDER" to restore a backup, or move this file away to start with an empty database.',
    }
    await expect(openStore({ data }, role)).rejects.toMatchObject(lost)
    // An empty file does not count as a database.
    writeFileSync(join(data, 'gatehouse.sqlite'), '')
    await expect(openStore({ data }, role)).rejects.toMatchObject(lost)
    expect(readdirSync(data).sort()).toEqual(['gatehouse.sqlite', 'operator.key'])
  })

  test('prevent a start, and without them a node starts with an empty database', async () => {
    const first = await startForTest({ data })
    await first.stop()
    rmSync(join(data, 'gatehouse.sqlite'))
    await expect(startForTest({ data })).rejects.toThrow('operator.key and secret.key but no')
    expect(existsSync(join(data, 'gatehouse.sqlite'))).toBe(false)
    rmSync(join(data, 'operator.key'))
    rmSync(join(data, 'secret.key'))
    const fresh = await startForTest({ data })
    await fresh.stop()
  })
})

test.each([
  ['gatehouse.sqlite', 0.5, 'This part of the database is damaged'],
  ['gatehouse.sqlite', 0.01, 'cannot be opened'],
  ['operator.key', 0.5, 'does not contain an operator key'],
  ['operator.key', 0, 'does not contain an operator key'],
  ['secret.key', 0.5, 'does not contain a 32-byte key'],
  ['secret.key', 0, 'does not contain a 32-byte key'],
] as const)(
  '%s truncated to a share of %d prevents a start, and stays as it is',
  async (name, share, message) => {
    const first = await startForTest({ data })
    await first.stop()
    const path = join(data, name)
    truncateSync(path, Math.floor(statSync(path).size * share))
    const contents = () =>
      ['gatehouse.sqlite', 'operator.key', 'secret.key'].map((file) =>
        readFileSync(join(data, file)),
      )
    const before = contents()
    await expect(startForTest({ data })).rejects.toThrow(message)
    expect(contents()).toEqual(before)
  },
)

test('a lost secret key prevents a start until the tokens encrypted with it are discarded', async () => {
  const first = await startForTest({ data })
  await first.stop()
  const store = await openStore({ data }, 'tool')
  const people = { issuer: 'a', subject: '1', username: 'github:1', role: 'viewer', created_at: 1 }
  const access_token = createVault(openSecretKey(data, undefined)).encrypt('x', 'people/1/access')
  await store.db
    .insertInto('people')
    .values({ id: '1', provider: 'github', ...people, access_token })
    .execute()
  await store.close()
  rmSync(join(data, 'secret.key'))
  await expect(startForTest({ data })).rejects.toThrow('is missing: restore it')
  expect(existsSync(join(data, 'secret.key'))).toBe(false)
  const discard = [MAIN, 'secrets', 'discard', '--data', data]
  const { stdout } = await promisify(execFile)(process.execPath, discard)
  expect(stdout).toContain(
    'Deleted the provider tokens, managed providers, certificates and secrets of webhooks.',
  )
  const second = await startForTest({ data })
  await second.stop()
})
