import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Failure } from '../../failure.ts'
import { OutcomeUnknown } from '../availability/unavailable.ts'
import type { Queries, RunTransaction } from '../changes/transactions.ts'
import type { Tables } from '../tables.ts'
import { forEngine, type TestEngine } from '../test-support/each-engine.testing.ts'
import { GroupCommit } from './group-commit.ts'

const notStored = {
  code: 'unavailable',
  message: 'The change could not be stored. Nothing was changed. Try again.',
}

forEngine('sqlite', (engine) => {
  let db: Queries
  let transaction: RunTransaction
  let outside: DatabaseSync

  beforeEach(async () => {
    const store = await engine.open()
    db = store.db
    transaction = store.transaction
    outside = new DatabaseSync(fileOf(engine), { timeout: 0 })
  })

  afterEach(() => {
    outside.close()
  })

  const insert = (name: string) =>
    db.insertInto('databases').values({ name, created_at: 0 }).execute()

  /** Returns the committed names, as another process reads them. */
  const committed = (): string[] =>
    outside
      .prepare('select name from databases order by name')
      .all()
      .map(({ name }) => String(name))

  test('shares one commit between the writes of a turn', async () => {
    const before = countCommits(engine)
    await Promise.all(Array.from({ length: 100 }, (_, nth) => insert(`plain-${nth}`)))
    expect(countCommits(engine) - before).toBe(1)
    const transactions = Array.from({ length: 100 }, (_, nth) =>
      transaction(async (trx) => {
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
    const underWay = transaction((trx) =>
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
      transaction(async (trx) => {
        const rows = await trx.selectFrom('databases').selectAll().execute()
        if (rows.length > 0) throw new Failure('database-exists', 'there is one')
      })
    await Promise.all([insert('a'), again(), inTransaction().catch(recordCommitted)])
    expect(seen).toEqual([['a'], ['a']])
  })

  test('hides uncommitted changes from plain reads', async () => {
    const stored = insert('a')
    await Promise.resolve()
    expect(await db.selectFrom('databases').selectAll().execute()).toEqual([])
    expect((await sql`select * from databases`.execute(db)).rows).toEqual([])
    await stored
    expect(await db.selectFrom('databases').selectAll().execute()).toHaveLength(1)
  })

  test('rolls back one unit of a group and commits the others', async () => {
    const before = countCommits(engine)
    const thrown = new Error('on second thoughts')
    const results = await Promise.allSettled([
      insert('a'),
      transaction(async (trx) => {
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

  test('fails every member of a group whose commit fails, and continues with the next', async () => {
    await createDeferred(db)
    const results = await Promise.allSettled([
      insert('a'),
      transaction((trx) => sql`insert into child values (1)`.execute(trx)),
      transaction(async (trx) => {
        await trx.insertInto('databases').values({ name: 'b', created_at: 0 }).execute()
        throw new Failure('conflict', 'depends on an uncommitted row')
      }),
      insert('c'),
    ])
    for (const result of results) {
      expect(result).toMatchObject({ status: 'rejected', reason: notStored })
      expect(result).toMatchObject({
        reason: { cause: { message: 'FOREIGN KEY constraint failed' }, kind: { status: 503 } },
      })
    }
    expect(committed()).toEqual([])
    await insert('d')
    expect(committed()).toEqual(['d'])
  })

  test('fails every member of a group that SQLite itself has rolled back', async () => {
    await insert('taken')
    const results = await Promise.allSettled([
      insert('a'),
      transaction(async (trx) => {
        const rollBackAll = sql`insert or rollback into databases (name, created_at) values ('taken', 0)`
        await expect(rollBackAll.execute(trx)).rejects.toThrow(/UNIQUE/)
        // SQLite has rolled back the transaction, so it can neither continue nor commit.
        const more = trx.insertInto('databases').values({ name: 'b', created_at: 0 }).execute()
        await expect(more).rejects.toMatchObject(notStored)
      }),
    ])
    for (const result of results) {
      expect(result).toMatchObject({ status: 'rejected', reason: notStored })
    }
    await insert('c')
    expect(committed()).toEqual(['c', 'taken'])
  })

  test('stores nothing of a group if a unit cannot be rolled back', async () => {
    const own = new DatabaseSync(fileOf(engine), { timeout: 0 })
    const commits = new GroupCommit(own)
    const add = (name: string) =>
      own.exec(`insert into databases (name, created_at) values ('${name}', 0)`)
    const other = commits.write(() => add('a'))
    const unit = await commits.begin()
    commits.run(unit, () => {
      add('b')
      // Removes the savepoint, so that the rollback fails.
      own.exec('release gatehouse_unit')
    })
    for (const result of await Promise.allSettled([commits.rollback(unit), other])) {
      expect(result).toMatchObject({ status: 'rejected', reason: notStored })
    }
    await commits.write(() => add('c'))
    own.close()
    expect(committed()).toEqual(['c'])
  })

  test('continues with the next group even if a failed one could not be rolled back', async () => {
    await createDeferred(db)
    const own = new DatabaseSync(fileOf(engine), { timeout: 0 })
    const commits = new GroupCommit(own)
    const orphan = own.prepare('insert into child values (1)')
    const rollback = vi.spyOn(own, 'exec').mockImplementationOnce(() => {
      throw new Error('on purpose')
    })
    const failing = commits.write(() => orphan.run())
    await expect(failing).rejects.toMatchObject(notStored)
    expect(rollback).toHaveBeenCalledExactlyOnceWith('rollback')
    await commits.write(() => own.exec("insert into databases (name, created_at) values ('a', 0)"))
    own.close()
    expect(committed()).toEqual(['a'])
    expect((await sql`select * from child`.execute(db)).rows).toEqual([])
  })

  test('fails every member of a group on a full disk, and continues when there is space', async () => {
    // SQLite's own limit on the file size causes the same error as a full disk.
    const limit = (pages: number) => sql.raw(`pragma max_page_count = ${pages}`).execute(db)
    await limit(1)
    const results = await Promise.allSettled([insert('a'), insert('b'.repeat(100_000))])
    for (const result of results) {
      expect(result).toMatchObject({
        status: 'rejected',
        reason: {
          code: 'insufficient-storage',
          message: 'The disk is full. Nothing was changed.',
          kind: { status: 507 },
        },
      })
    }
    await limit(1_000_000)
    expect(committed()).toEqual([])
    await insert('c')
    expect(committed()).toEqual(['c'])
  })

  test('reports an unknown outcome to every member if the disk fails during the commit', async () => {
    const own = new DatabaseSync(fileOf(engine), { timeout: 0 })
    const fsync = { code: 'ERR_SQLITE_ERROR', errcode: 1_034 }
    const prepare = own.prepare.bind(own)
    let failing = true
    vi.spyOn(own, 'prepare').mockImplementation((text) => {
      const statement = prepare(text)
      if (text !== 'commit') return statement
      const run = statement.run.bind(statement)
      return Object.assign(statement, {
        run() {
          if (failing) throw Object.assign(new Error('disk I/O error'), fsync)
          return run()
        },
      })
    })
    const commits = new GroupCommit(own)
    const add = (name: string) =>
      commits.write(() =>
        own.exec(`insert into databases (name, created_at) values ('${name}', 0)`),
      )
    for (const result of await Promise.allSettled([add('a'), add('b')])) {
      expect(result).toMatchObject({ status: 'rejected', reason: expect.any(OutcomeUnknown) })
    }
    failing = false
    await add('c')
    own.close()
    expect(committed()).toEqual(['c'])
  })

  test('commits a due group before the next unit starts', async () => {
    const long = transaction(async (trx) => {
      await trx.insertInto('databases').values({ name: 'a', created_at: 0 }).execute()
      await nextTurn()
      await nextTurn()
    })
    const next = transaction(async (trx) => {
      await trx.insertInto('databases').values({ name: 'b', created_at: 0 }).execute()
      return committed()
    })
    expect(await next).toEqual(['a'])
    await long
  })

  test('waits for another process that writes, without blocking reads', async () => {
    outside.exec('begin immediate')
    let stored = false
    const waiting = insert('a').then(() => {
      stored = true
    })
    for (let turn = 0; turn < 50; turn++) {
      await nextTurn()
      expect(await db.selectFrom('databases').selectAll().execute()).toEqual([])
    }
    expect(stored).toBe(false)
    outside.exec('commit')
    await waiting
    expect(committed()).toEqual(['a'])
  })

  test('fails if another process does not stop writing', async () => {
    outside.exec('begin immediate')
    const own = new DatabaseSync(fileOf(engine), { timeout: 0 })
    const commits = new GroupCommit(own, { lockTimeout: 30 })
    const work = () => own.exec("insert into databases (name, created_at) values ('a', 0)")
    const inVain = await Promise.allSettled([commits.write(work), commits.write(work)])
    for (const result of inVain) {
      expect(result).toMatchObject({
        reason: {
          code: 'unavailable',
          message: 'Another process has locked the store. Try again.',
        },
      })
    }
    outside.exec('commit')
    await commits.write(work)
    own.close()
    expect(committed()).toEqual(['a'])
  })
})

function fileOf(engine: TestEngine): string {
  return join((engine.location() as { data: string }).data, 'gatehouse.sqlite')
}

/** Creates two tables with a foreign key that is only checked at COMMIT. */
async function createDeferred(db: Kysely<Tables>): Promise<void> {
  await sql`create table parent (id integer primary key)`.execute(db)
  await sql`create table child (
    parent integer references parent (id) deferrable initially deferred
  )`.execute(db)
}

/**
 * Counts the commits in the write-ahead log: the frames that contain the size of the database
 * (https://sqlite.org/fileformat2.html#walformat).
 */
function countCommits(engine: TestEngine): number {
  const log = readFileSync(`${fileOf(engine)}-wal`)
  const frame = 24 + log.readUInt32BE(8)
  let commits = 0
  for (let at = 32; at + frame <= log.length; at += frame) {
    if (log.readUInt32BE(at + 4) > 0) commits++
  }
  return commits
}
