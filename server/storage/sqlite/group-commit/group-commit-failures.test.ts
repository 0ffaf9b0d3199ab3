import { DatabaseSync } from 'node:sqlite'
import { sql } from 'kysely'
import { expect, test, vi } from 'vitest'
import { Failure } from '../../../failure.ts'
import { OutcomeUnknown } from '../../availability/unavailable.ts'
import { forEngine } from '../../test-support/each-engine.testing.ts'
import { createCommitFixture, createDeferred, fileOf } from './group-commit.testing.ts'
import { GroupCommit } from './group-commit.ts'

const notStored = {
  code: 'unavailable',
  message: 'The change could not be stored. Nothing was changed. Try again.',
}

forEngine('sqlite', (engine) => {
  const store = createCommitFixture(engine)
  const { insert, committed } = store

  test('fails every member of a group whose commit fails, and continues with the next', async () => {
    await createDeferred(store.db)
    const results = await Promise.allSettled([
      insert('a'),
      store.transaction((trx) => sql`insert into child values (1)`.execute(trx)),
      store.transaction(async (trx) => {
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
      store.transaction(async (trx) => {
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
    await createDeferred(store.db)
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
    expect((await sql`select * from child`.execute(store.db)).rows).toEqual([])
  })

  test('fails every member of a group on a full disk, and continues when there is space', async () => {
    // SQLite's own limit on the file size causes the same error as a full disk.
    const limit = (pages: number) => sql.raw(`pragma max_page_count = ${pages}`).execute(store.db)
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
})
