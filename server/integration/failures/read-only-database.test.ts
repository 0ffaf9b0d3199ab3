import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import {
  type OwnPostgres,
  startOwnPostgres,
} from '../../storage/test-support/postgres-server.testing.ts'
import { startForTest, type TestNode } from '../../test-support/start.testing.ts'

// Tests a node whose PostgreSQL rejects changes for a while, as after a failover or on a full disk.

let server: OwnPostgres
let node: TestNode

beforeAll(async () => {
  server = await startOwnPostgres()
})
afterAll(() => server.remove())
beforeEach(async () => {
  node = await startForTest({
    databaseUrl: server.url,
    operatorKey: 'operator-key-of-tests-alone-0123456789',
    secretKey: Buffer.alloc(32, 1),
  })
  await node.request('POST', '/things', { id: 'kept' })
})
afterEach(async () => {
  // Also after a test that failed half-way.
  for (const { back } of causes) await back()
  await node.stop()
})

async function admin(...commands: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  try {
    await client.query('set default_transaction_read_only = off')
    for (const command of commands) await client.query(command)
  } finally {
    await client.end()
  }
}

const causes = [
  {
    way: 'is set to be read-only, for every session',
    go: () =>
      admin('alter system set default_transaction_read_only = on', 'select pg_reload_conf()'),
    back: () =>
      admin('alter system reset default_transaction_read_only', 'select pg_reload_conf()'),
  },
  {
    // The setting applies to new sessions only, so end those of the node, as a failover does.
    way: 'is set to be read-only, for new sessions',
    go: () =>
      admin(
        'alter database postgres set default_transaction_read_only = on',
        "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'gatehouse'",
      ),
    back: () => admin('alter database postgres reset default_transaction_read_only'),
  },
]

const health = async () => {
  const { status, json } = await node.request('GET', '/_api/health/ready')
  return { status, ...json }
}
const change = async () => (await node.request('POST', '/things', {})).status

test.each(causes)(
  'a database that $way serves reads, and accepts changes again automatically',
  async (each) => {
    expect(await health()).toMatchObject({ status: 200, writable: true, reason: null })
    await each.go()
    await expect.poll(change).toBe(503)
    await expect.poll(health).toMatchObject({
      status: 200,
      ready: true,
      writable: false,
      reason: expect.stringContaining('PostgreSQL is read-only'),
    })
    const refused = await node.request('POST', '/things', {})
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '1'])
    expect(refused.json.message).toBe('The database is read-only. Try again.')
    for (const path of ['/things/kept', '/things?limit=1', '/_api/endpoint', '/_api/audit']) {
      expect([path, (await node.request('GET', path)).status]).toEqual([path, 200])
    }
    expect((await node.request('GET', '/_api/metrics')).text).toContain(
      'gatehouse_store_writable 0',
    )

    // Concurrent requests, so that the pool has more connections than the check uses.
    await Promise.all(Array.from({ length: 30 }, () => node.request('GET', '/things?limit=1')))
    await each.back()
    await expect.poll(health).toMatchObject({ status: 200, writable: true, reason: null })
    // Changes succeed on every connection of the pool.
    const changes = await Promise.all(Array.from({ length: 50 }, change))
    expect(changes.filter((status) => status !== 201)).toEqual([])
  },
)

test('a read-only database is detected without any change', async () => {
  const [way] = causes
  await way?.go()
  await expect.poll(health).toMatchObject({ writable: false })
  await way?.back()
  await expect.poll(health).toMatchObject({ writable: true })
})
