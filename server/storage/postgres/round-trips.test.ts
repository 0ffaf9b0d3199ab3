import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { nextRevision } from '../changes/begin-change.ts'
import { executeAll, executeLater } from '../changes/transactions.ts'
import { openStore } from '../open.ts'
import type { Store } from '../store.ts'
import { makeDatabase } from '../test-support/each-engine.testing.ts'
import { expectRoundTrips } from '../test-support/round-trips.testing.ts'
import { startTcpProxy, type TcpProxy } from '../test-support/tcp-proxy.testing.ts'

let proxy: TcpProxy
let store: Store
let remove: () => Promise<void>

beforeEach(async () => {
  const database = await makeDatabase()
  remove = database.remove
  const url = new URL(database.databaseUrl)
  proxy = await startTcpProxy(Number(url.port))
  url.port = String(proxy.port)
  // A tool has no connection for notifications, whose queries would count.
  store = await openStore({ databaseUrl: url.href }, 'tool')
})

afterEach(async () => {
  await store.close()
  await proxy.close()
  await remove()
})

const setting = (name: string) =>
  sql`insert into settings (name, value) values (${name}, 'x') on conflict do nothing`.compile(
    store.db,
  )
const settings = async () =>
  (await store.db.selectFrom('settings').select('name').where('value', '=', 'x').execute()).map(
    ({ name }) => name,
  )

const lookUpSetting = (column: 'name' | 'value') =>
  store.prepareLookup(
    sql<{ name: string }>`select name from settings where ${sql.ref(column)} = ${''}`.compile(
      store.db,
    ),
  )

test('different lookups of a turn share a round trip', async () => {
  await store.db.insertInto('settings').values({ name: 'one', value: 'x' }).execute()
  const [byName, byValue] = [lookUpSetting('name'), lookUpSetting('value')]
  const lookUp = () => Promise.all([byName('one'), byValue('x'), byName('missing')])
  await expectRoundTrips(proxy, 1, lookUp)
  const found = [{ name: 'one' }]
  expect((await lookUp()).map(({ rows }) => rows)).toEqual([found, found, []])
})

test('a lookup that PostgreSQL rejects does not fail those of its round trip', async () => {
  await store.db.insertInto('settings').values({ name: 'one', value: 'x' }).execute()
  const [byName, byValue] = [lookUpSetting('name'), lookUpSetting('value')]
  // Twice: PostgreSQL has prepared the first statement when the second one fails.
  for (const _ of [1, 2]) {
    const [good, bad] = await Promise.allSettled([byName('one'), byValue('a\0')])
    expect(good).toMatchObject({ value: { rows: [{ name: 'one' }] } })
    expect(bad).toMatchObject({ reason: { code: 'bad-parameter' } })
  }
})

test('a transaction begins with its first statement and commits with its last ones', async () => {
  await expectRoundTrips(proxy, 2, () => store.change(nextRevision))
  const change = () =>
    store.change(async (trx) => {
      const count = sql<{ n: number }>`select count(*)::integer as n from counters`.compile(trx)
      const [[one], [two]] = await executeAll(trx, count, count)
      expect([one?.n, two?.n]).toEqual([1, 1])
      await executeLater(trx, setting('one'))
      await executeLater(trx, setting('two'))
    })
  await expectRoundTrips(proxy, 2, change)
  expect(await settings()).toEqual(['one', 'two'])
})

test('a transaction without statements sends nothing', async () => {
  await expectRoundTrips(proxy, 0, () => store.transaction(async () => {}))
  const failed = () => store.transaction(() => Promise.reject(new Error('undone'))).catch(() => {})
  await expectRoundTrips(proxy, 0, failed)
})

test('held statements run before the next one', async () => {
  const found = await store.change(async (trx) => {
    await nextRevision(trx)
    await executeLater(trx, setting('held'))
    return trx.selectFrom('settings').select('name').where('name', '=', 'held').execute()
  })
  expect(found).toEqual([{ name: 'held' }])
})

test('a change is not committed if a held statement fails', async () => {
  const change = store.change(async (trx) => {
    await nextRevision(trx)
    await executeLater(trx, setting('kept'))
    await executeLater(trx, sql`insert into settings (name) values (null)`.compile(trx))
  })
  await expect(change).rejects.toMatchObject({ code: '23502' })
  expect(await settings()).toEqual([])
  expect(await store.change(nextRevision)).toBe(1)
})

test('held statements are discarded by a rollback', async () => {
  const change = store.change(async (trx) => {
    await nextRevision(trx)
    await executeLater(trx, setting('discarded'))
    throw new Error('undone')
  })
  await expect(change).rejects.toThrow('undone')
  expect(await settings()).toEqual([])
})
