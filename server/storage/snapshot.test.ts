import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { sizeOf } from './data-folder.ts'
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
  /** Opens a store, and returns a function that opens a snapshot of it with a short log. */
  async function openLimited() {
    const store = await engine.open()
    const { data } = engine.location() as { data: string }
    const path = join(data, 'gatehouse.sqlite')
    const opened = sizeOf(`${path}-wal`) ?? 0
    const limits = { opened, open: opened + 64 * 1024 }
    const open = (ending = () => {}) => openSqliteSnapshot(path, ending, limits)
    const grow = async (bytes: number) => {
      for (let at = 0; (sizeOf(`${path}-wal`) ?? 0) <= bytes; at++)
        await storeDatabases(store, `${at}-${'x'.repeat(16 * 1024)}`)
    }
    return { store, limits, open, grow }
  }

  test('a snapshot ends once the log has grown too much', async () => {
    const { store, limits, open, grow } = await openLimited()
    const snapshot = open()
    const query = sql`select 1`.compile(store.db)
    expect(snapshot.execute(query)).toMatchObject({ rows: [{ 1: 1 }] })
    await grow(limits.open)
    expect(() => snapshot.execute(query)).toThrow(expect.objectContaining({ code: 'busy' }))
    await snapshot.close()
  })

  test('a snapshot whose reader waits ends, too', async () => {
    const { limits, open, grow } = await openLimited()
    let ended = 0
    const snapshot = open(() => ended++)
    await grow(limits.open)
    await expect.poll(() => ended).toBe(1)
    await snapshot.close()
    expect(ended).toBe(1)
  })

  test('no snapshot begins while the log is long, so that all together allow it a limited size', async () => {
    const { limits, open, grow } = await openLimited()
    const snapshot = open()
    await grow(limits.opened)
    let copied = 0
    expect(() => open(() => copied++)).toThrow(
      expect.objectContaining({ code: 'busy', headers: { 'Retry-After': '5' } }),
    )
    expect(copied).toBe(1)
    await snapshot.close()
  })
})
