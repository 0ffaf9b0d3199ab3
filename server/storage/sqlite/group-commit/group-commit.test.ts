import { DatabaseSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { Failure } from '../../../failure.ts'
import { forEngine } from '../../test-support/each-engine.testing.ts'
import { countCommits, createCommitFixture, fileOf } from './group-commit.testing.ts'
import { GroupCommit } from './group-commit.ts'

forEngine('sqlite', (engine) => {
  const store = createCommitFixture(engine)
  const { insert, committed } = store

  test('shares one commit between the writes of a turn', async () => {
    const before = countCommits(engine)
    await Promise.all(Array.from({ length: 100 }, (_, nth) => insert(`plain-${nth}`)))
    expect(countCommits(engine) - before).toBe(1)
    const transactions = Array.from({ length: 100 }, (_, nth) =>
      store.transaction(async (trx) => {
        await trx
          .insertInto('databases')
          .values({ name: `a-${nth}`, created_at: 0 })
          .execute()
        await trx
          .insertInto('databases')
          .values({ name: `b-${nth}`, created_at: 0 })
          .execute()
      }),
    )
    await Promise.all(transactions)
    expect(countCommits(engine) - before).toBe(2)
    expect(committed()).toHaveLength(300)
  })

  test('commits writes of different turns separately', async () => {
    const before = countCommits(engine)
    for (const name of ['a', 'b', 'c']) await insert(name)
    expect(countCommits(engine) - before).toBe(3)
  })

  test('resolves no write before the commit', async () => {
    const seen: string[][] = []
    const recordCommitted = () => seen.push(committed())
    const underWay = store.transaction((trx) =>
      trx.insertInto('databases').values({ name: 'b', created_at: 0 }).execute(),
    )
    await Promise.all([
      insert('a').then(recordCommitted),
      underWay.then(recordCommitted),
      insert('c').then(recordCommitted),
    ])
    expect(seen).toEqual([
      ['a', 'b', 'c'],
      ['a', 'b', 'c'],
      ['a', 'b', 'c'],
    ])
  })

  test('rejects no write because of an uncommitted row', async () => {
    const seen: string[][] = []
    const recordCommitted = () => seen.push(committed())
    const again = () => insert('a').catch(recordCommitted)
    const inTransaction = () =>
      store.transaction(async (trx) => {
        const rows = await trx.selectFrom('databases').selectAll().execute()
        if (rows.length > 0) throw new Failure('database-exists', 'there is one')
      })
    await Promise.all([insert('a'), again(), inTransaction().catch(recordCommitted)])
    expect(seen).toEqual([['a'], ['a']])
  })

  test('hides uncommitted changes from plain reads', async () => {
    const stored = insert('a')
    await Promise.resolve()
    expect(await store.db.selectFrom('databases').selectAll().execute()).toEqual([])
    expect((await sql`select * from databases`.execute(store.db)).rows).toEqual([])
    await stored
    expect(await store.db.selectFrom('databases').selectAll().execute()).toHaveLength(1)
  })

  test('rolls back one unit of a group and commits the others', async () => {
    const before = countCommits(engine)
    const thrown = new Error('on second thoughts')
    const results = await Promise.allSettled([
      insert('a'),
      store.transaction(async (trx) => {
        await trx.insertInto('databases').values({ name: 'b', created_at: 0 }).execute()
        throw thrown
      }),
      insert('a'),
      insert('c'),
    ])
    expect(results.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'rejected',
      'fulfilled',
    ])
    expect(results[1]).toMatchObject({ reason: thrown })
    expect(results[2]).toMatchObject({ reason: { message: expect.stringMatching(/UNIQUE/) } })
    expect(committed()).toEqual(['a', 'c'])
    expect(countCommits(engine) - before).toBe(1)
  })

  test('stores all statements of a unit without turns, or none', async () => {
    const own = new DatabaseSync(fileOf(engine), { timeout: 0 })
    const commits = new GroupCommit(own)
    const add = (...names: string[]) => {
      for (const name of names) {
        own.exec(`insert into databases (name, created_at) values ('${name}', 0)`)
      }
    }
    const results = await Promise.allSettled([
      commits.writeAll(() => add('a', 'b')),
      commits.writeAll(() => add('c', 'a')),
      commits.writeAll(() => {
        add('d')
        throw new Failure('conflict', 'on second thoughts')
      }),
      commits.writeAll(() => add('e')),
    ])
    expect(results.map(({ status }) => status)).toEqual([
      ...['fulfilled', 'rejected', 'rejected', 'fulfilled'],
    ])
    expect(committed()).toEqual(['a', 'b', 'e'])
    own.close()
  })

  test('stores nothing of a group that SQLite rolls back in a unit without turns', async () => {
    await insert('taken')
    const own = new DatabaseSync(fileOf(engine), { timeout: 0 })
    const commits = new GroupCommit(own)
    const add = (verb: string, name: string) =>
      own.exec(`${verb} into databases (name, created_at) values ('${name}', 0)`)
    const results = await Promise.allSettled([
      commits.write(() => add('insert', 'a')),
      commits.writeAll(() => add('insert or rollback', 'taken')),
    ])
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    await commits.writeAll(() => add('insert', 'b'))
    own.close()
    expect(committed()).toEqual(['b', 'taken'])
  })

  test('commits a due group before the next unit starts', async () => {
    const long = store.transaction(async (trx) => {
      await trx.insertInto('databases').values({ name: 'a', created_at: 0 }).execute()
      await nextTurn()
      await nextTurn()
    })
    const next = store.transaction(async (trx) => {
      await trx.insertInto('databases').values({ name: 'b', created_at: 0 }).execute()
      return committed()
    })
    expect(await next).toEqual(['a'])
    await long
  })

  test('waits for another process that writes, without blocking reads', async () => {
    store.outside.exec('begin immediate')
    let stored = false
    const waiting = insert('a').then(() => {
      stored = true
    })
    for (let turn = 0; turn < 50; turn++) {
      await nextTurn()
      expect(await store.db.selectFrom('databases').selectAll().execute()).toEqual([])
    }
    expect(stored).toBe(false)
    store.outside.exec('commit')
    await waiting
    expect(committed()).toEqual(['a'])
  })

  test('fails if another process does not stop writing', async () => {
    store.outside.exec('begin immediate')
    const own = new DatabaseSync(fileOf(engine), { timeout: 0 })
    const commits = new GroupCommit(own, { lockTimeout: 30 })
    const work = () => own.exec("insert into databases (name, created_at) values ('a', 0)")
    const inVain = await Promise.allSettled([commits.write(work), commits.write(work)])
    for (const result of inVain) {
      expect(result).toMatchObject({
        reason: {
          code: 'unavailable',
          message: 'Another process has locked the database. Try again.',
        },
      })
    }
    store.outside.exec('commit')
    await commits.write(work)
    own.close()
    expect(committed()).toEqual(['a'])
  })
})
