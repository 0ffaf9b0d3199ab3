import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { openSqliteSnapshot } from './sqlite/snapshot.ts'
import type { Snapshot, Store } from './store.ts'
import { storeDatabases } from './test-support/databases.testing.ts'
import { forEachEngine, forEngine } from './test-support/each-engine.testing.ts'

const countIn = async ({ db }: Store, { prepareRead }: Snapshot) => {
  const { rows } = await prepareRead(
    sql<{ count: number }>`select count(*) as count from databases where name <> ${''}`.compile(db),
  )('_system')
  return rows[0]?.count
}

forEachEngine((engine) => {
  test('a snapshot does not see later changes, and does not delay them', async () => {
    const store = await engine.open()
    await storeDatabases(store, 'before')
    const snapshot = await store.openSnapshot()
    const count = await countIn(store, snapshot)
    await storeDatabases(store, 'after')
    expect(await countIn(store, snapshot)).toBe(count)
    const later = await store.openSnapshot()
    expect(await countIn(store, later)).toBe(Number(count) + 1)
    for (const each of [snapshot, later]) await each[Symbol.asyncDispose]()
  })

  test('the store closes after its snapshots', async () => {
    const store = await engine.open()
    const snapshot = await store.openSnapshot()
    const closing = store.close()
    expect(await countIn(store, snapshot)).toEqual(expect.any(Number))
    await expect(store.openSnapshot()).rejects.toMatchObject({ code: 'unavailable' })
    await snapshot[Symbol.asyncDispose]()
    await snapshot[Symbol.asyncDispose]()
    await closing
  })

  test('a failed query leaves other snapshots usable', async () => {
    const store = await engine.open()
    const snapshot = await store.openSnapshot()
    const failing = snapshot.prepareRead(
      sql`select 1 / length(${''}) from missing`.compile(store.db),
    )
    await expect(async () => failing('')).rejects.toThrow()
    await snapshot[Symbol.asyncDispose]()
    const next = await store.openSnapshot()
    expect(await countIn(store, next)).toEqual(expect.any(Number))
    await next[Symbol.asyncDispose]()
  })
})

forEngine('sqlite', (engine) => {
  test('a snapshot ends once the log has grown too much', async () => {
    const store = await engine.open()
    const { data } = engine.location() as { data: string }
    const snapshot = openSqliteSnapshot(join(data, 'gatehouse.sqlite'), 64 * 1024)
    const query = sql`select 1`.compile(store.db)
    expect(snapshot.execute(query)).toMatchObject({ rows: [{ 1: 1 }] })
    // Longer than the part of the log that earlier changes have used and left.
    for (let at = 0; at < 20; at++) await storeDatabases(store, `${at}-${'x'.repeat(256 * 1024)}`)
    expect(() => snapshot.execute(query)).toThrow(expect.objectContaining({ code: 'busy' }))
    await snapshot.close()
  })
})
