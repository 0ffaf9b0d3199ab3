import { DatabaseSync } from 'node:sqlite'
import { CompiledQuery } from 'kysely'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { collectGarbage } from '../../test-support/collect-garbage.testing.ts'
import { oldGeneration } from '../../test-support/old-generation.testing.ts'
import { SqliteStatements } from './statements.ts'

let db: DatabaseSync
let statements: SqliteStatements

beforeEach(() => {
  db = new DatabaseSync(':memory:')
  db.exec('create table notes (id integer primary key, text text unique)')
  statements = new SqliteStatements(db)
})

afterEach(() => {
  db.close()
})

const execute = (sql: string, ...parameters: unknown[]) =>
  statements.execute(CompiledQuery.raw(sql, parameters))

test('returns the inserted row id and the number of changed rows', () => {
  expect(execute('insert into notes (text) values (?), (?)', 'a', 'b')).toEqual({
    rows: [],
    numAffectedRows: 2n,
    insertId: 2n,
  })
  expect(execute('update notes set text = text || ?', '!')).toEqual({
    rows: [],
    numAffectedRows: 2n,
  })
  expect(execute('delete from notes where id = 1 returning text')).toEqual({
    rows: [{ text: 'a!' }],
    numAffectedRows: 1n,
  })
})

test('returns no numbers of an earlier statement', () => {
  execute("insert into notes (text) values ('a')")
  expect(execute("insert into notes (text) values ('a') on conflict do nothing")).toEqual({
    rows: [],
    numAffectedRows: 0n,
  })
  expect(execute('create table more (id integer)')).toEqual({ rows: [] })
})

test('prepares a statement once, and evicts the least recently used', () => {
  const prepare = vi.spyOn(db, 'prepare')
  execute('select 0 as n')
  execute('select 0 as n')
  expect(prepare).toHaveBeenCalledTimes(1)
  execute('select -1 as n')
  for (let n = 1; n < 256; n++) {
    execute('select 0 as n')
    execute(`select ${n} as n`)
  }
  expect(prepare).toHaveBeenCalledTimes(257)
  execute('select 0 as n')
  expect(prepare).toHaveBeenCalledTimes(257)
  execute('select -1 as n')
  expect(prepare).toHaveBeenCalledTimes(258)
})

test('detects a new column of a table', () => {
  execute("insert into notes (text) values ('a')")
  expect(execute('select * from notes').rows).toEqual([{ id: 1, text: 'a' }])
  execute('alter table notes add column more integer')
  expect(execute('select * from notes').rows).toEqual([{ id: 1, text: 'a', more: null }])
})

test('allocates rows in the young generation of the heap', () => {
  const numbers = JSON.stringify(Array.from({ length: 1_000 }, (_, at) => at))
  const readOften = () => {
    for (let times = 0; times < 200; times++) {
      execute('select key, value from json_each(?)', numbers)
      // Often enough that V8 promotes no rows for lack of space.
      collectGarbage({ type: 'minor' })
    }
  }
  readOften()
  collectGarbage()
  const before = oldGeneration()
  readOften()
  // Objects of `node:sqlite` would be 13 MiB. After more rows, a major collection would free them.
  expect(oldGeneration() - before).toBeLessThan(8 * 1024 * 1024)
})
