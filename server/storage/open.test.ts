import { AsyncLocalStorage } from 'node:async_hooks'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { Failure } from '../failure.ts'
import { nextRevision } from './changes/begin-change.ts'
import { forEachEngine } from './test-support/each-engine.testing.ts'

forEachEngine({ empty: true }, (engine) => {
  test('opens again with all data', async () => {
    const first = await engine.open()
    await first.db.insertInto('databases').values({ name: 'ada', created_at: 1 }).execute()
    await first.close()
    const second = await engine.open()
    expect(await second.db.selectFrom('databases').selectAll().execute()).toEqual([
      { name: 'ada', created_at: 1, id: '' },
    ])
    expect(await second.db.selectFrom('counters').selectAll().execute()).toEqual([
      { name: 'revision', value: 0 },
    ])
  })

  test('allows several processes to open a new store concurrently', async () => {
    const stores = await Promise.all([1, 2, 3, 4].map(() => engine.open('tool')))
    const counts = stores.map((store) => store.db.selectFrom('counters').selectAll().execute())
    expect(await Promise.all(counts)).toEqual(stores.map(() => [{ name: 'revision', value: 0 }]))
  })

  test('creates nothing for a command, which needs an existing store', async () => {
    // The second one would find what the first one has created.
    for (let attempt = 0; attempt < 2; attempt++) {
      await expect(engine.open('command')).rejects.toMatchObject({
        code: 'not-found',
        message: expect.stringMatching(/ contains no Gatehouse database\.$/),
      })
    }
    await (await engine.open()).close()
    const store = await engine.open('command')
    expect(await store.db.selectFrom('counters').selectAll().execute()).toHaveLength(1)
  })

  test('rejects a store that a newer Gatehouse has changed', async () => {
    const store = await engine.open()
    await sql`insert into kysely_migration (name, timestamp)
      values ('9999-tomorrow', '2999-01-01T00:00:00.000Z')`.execute(store.db)
    await store.close()
    await expect(engine.open()).rejects.toMatchObject({
      code: 'conflict',
      message:
        'This database was last used by a newer version of Gatehouse (it has the migration "9999-tomorrow"). ' +
        'Start that version or a newer one.',
    })
  })

  test('orders names by code point', async () => {
    const { db } = await engine.open()
    const names = ['b', 'A', 'Z', 'a', 'é', '_system', '\u{1F600}', '\uFFFD']
    await db
      .insertInto('databases')
      .values(names.map((name) => ({ name, created_at: 0 })))
      .execute()
    const rows = await db.selectFrom('databases').select('name').orderBy('name').execute()
    const ordered = ['A', 'Z', '_system', 'a', 'b', 'é', '\uFFFD', '\u{1F600}']
    expect(rows.map(({ name }) => name)).toEqual(ordered)
  })

  test('returns big integers as numbers', async () => {
    const { db } = await engine.open()
    const created_at = Number.MAX_SAFE_INTEGER
    const row = await db
      .insertInto('databases')
      .values({ name: 'ada', created_at })
      .returningAll()
      .executeTakeFirst()
    expect(row).toEqual({ name: 'ada', created_at, id: '' })
  })

  test('counts the rows that a statement has changed, with and without returning', async () => {
    const { db } = await engine.open()
    const values = ['a', 'b', 'c'].map((name) => ({ name, created_at: 0 }))
    const insert = db.insertInto('databases').values(values)
    expect((await insert.executeTakeFirst()).numInsertedOrUpdatedRows).toBe(3n)
    const again = insert.onConflict((conflict) => conflict.doNothing())
    expect((await again.executeTakeFirst()).numInsertedOrUpdatedRows).toBe(0n)
    const remove = db.deleteFrom('databases').where('name', '>', 'a')
    expect(await remove.returning('name').execute()).toEqual([{ name: 'b' }, { name: 'c' }])
    expect((await remove.executeTakeFirst()).numDeletedRows).toBe(0n)
  })

  test('returns errors of a query unchanged', async () => {
    const { db } = await engine.open()
    const insert = db.insertInto('databases').values({ name: 'ada', created_at: 1 })
    await insert.execute()
    const refused = await insert.execute().catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(Error)
    expect(refused).not.toBeInstanceOf(Failure)
    expect(String(refused)).toMatch(/unique/i)
  })

  test('hides uncommitted changes of a transaction', async () => {
    const { db, transaction } = await engine.open()
    const count = async () => (await db.selectFrom('databases').selectAll().execute()).length
    const outside = AsyncLocalStorage.snapshot()
    await transaction(async (trx) => {
      await trx.insertInto('databases').values({ name: 'ada', created_at: 1 }).execute()
      expect(await trx.selectFrom('databases').selectAll().execute()).toHaveLength(1)
      expect(await outside(count)).toBe(0)
    })
    expect(await count()).toBe(1)
  })

  test('rolls back a transaction that throws', async () => {
    const { db, change } = await engine.open()
    const thrown = new Failure('conflict', 'on second thoughts')
    const attempt = change(async (trx) => {
      await trx.insertInto('databases').values({ name: 'ada', created_at: 1 }).execute()
      await nextRevision(trx)
      throw thrown
    })
    await expect(attempt).rejects.toBe(thrown)
    expect(await db.selectFrom('databases').selectAll().execute()).toEqual([])
    expect(await change(nextRevision)).toBe(1)
  })

  test('assigns each revision once to 50 concurrent changes, in order', async () => {
    const { db, change } = await engine.open()
    const revisions = await Promise.all(
      Array.from({ length: 50 }, (_, nth) =>
        change(async (trx) => {
          const revision = await nextRevision(trx)
          await trx
            .insertInto('endpoints')
            .values({ address: `tcp://127.0.0.1:${nth + 1}`, databases: '[]', revision })
            .execute()
          return revision
        }),
      ),
    )
    const oneToFifty = Array.from({ length: 50 }, (_, nth) => nth + 1)
    expect(revisions.toSorted((a, b) => a - b)).toEqual(oneToFifty)
    const stored = await db.selectFrom('endpoints').select('revision').orderBy('revision').execute()
    expect(stored.map(({ revision }) => revision)).toEqual(oneToFifty)
  })

  test('detects a change by another process once', async () => {
    const node = await engine.open()
    const tool = await engine.open('tool')
    expect(node.changedOutside()).toBe(false)
    await tool.change(nextRevision)
    await expect.poll(() => node.changedOutside()).toBe(true)
    expect(node.changedOutside()).toBe(false)
  })

  test('finishes work in progress when it closes, and rejects new work', async () => {
    const store = await engine.open()
    const entered = Promise.withResolvers<void>()
    const goOn = Promise.withResolvers<void>()
    const pending = store.change(async (trx) => {
      entered.resolve()
      await goOn.promise
      return nextRevision(trx)
    })
    await entered.promise
    const closed = store.close()
    await expect(store.change(nextRevision)).rejects.toMatchObject({
      code: 'unavailable',
      message: 'The database is closed.',
    })
    goOn.resolve()
    expect(await pending).toBe(1)
    await closed
    expect(store.changedOutside()).toBe(false)
  })
})
