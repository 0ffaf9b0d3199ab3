import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { CompiledQuery } from 'kysely'
import { expect, test, vi } from 'vitest'
import {
  areTextParameters,
  MAX_ROW_BYTES,
  QueryCache,
  ReadSnapshot,
  SqliteReads,
  textOf,
} from './reads.ts'
import { SqliteStatements } from './statements.ts'

test('a snapshot has no version after a failed read of it', () => {
  const readVersion = () => {
    if (failing) throw new Error('disk I/O error')
    return { data_version: 1 }
  }
  let failing = false
  const reader = { isOpen: true, prepare: () => ({ run() {}, get: readVersion }) }
  const snapshot = new ReadSnapshot(reader as unknown as DatabaseSync)
  expect(snapshot.begin()).toBe(1)
  snapshot.end()
  failing = true
  expect(() => snapshot.begin()).toThrow('disk I/O error')
  expect(snapshot.begin()).toBeUndefined()
  snapshot.end()
  failing = false
  expect(snapshot.begin()).toBe(1)
})

const answer = (body: string) => ({ rows: [{ body }] })

test('caches a result until the version of the store changes', () => {
  const cache = new QueryCache()
  const first = answer('first')
  expect(cache.get(1, 'select', ['key'])).toBeUndefined()
  cache.set('select', ['key'], first)
  expect(cache.get(1, 'select', ['key'])).toBe(first)
  expect(cache.get(1, 'select', ['another'])).toBeUndefined()
  expect(cache.get(2, 'select', ['key'])).toBeUndefined()
  // The cache was cleared at version 2, so version 1 misses even if it recurs.
  expect(cache.get(1, 'select', ['key'])).toBeUndefined()
})

test('caches nothing for an unknown version', () => {
  const cache = new QueryCache()
  cache.get(undefined, 'select', ['key'])
  cache.set('select', ['key'], answer('of some version'))
  expect(cache.get(undefined, 'select', ['key'])).toBeUndefined()
})

test('freezes cached rows', () => {
  const cache = new QueryCache()
  cache.get(1, 'select', ['key'])
  const kept = answer('as it is stored')
  cache.set('select', ['key'], kept)
  expect(() => Object.assign(kept.rows[0] as object, { body: 'changed' })).toThrow(TypeError)
})

test('does not cache a large result, and is cleared when full', () => {
  const cache = new QueryCache()
  cache.get(1, 'select', [''])
  cache.set('select', ['long'], answer('x'.repeat(33_000)))
  expect(cache.get(1, 'select', ['long'])).toBeUndefined()
  const body = 'x'.repeat(30_000)
  const kept = () => Array.from({ length: 1_000 }, (_, at) => cache.get(1, 'select', [`key ${at}`]))
  let most = 0
  for (let at = 0; at < 1_000; at += 1) {
    cache.set('select', [`key ${at}`], answer(body))
    most = Math.max(most, kept().filter((each) => each !== undefined).length)
  }
  expect(most).toBeGreaterThan(200)
  expect(most).toBeLessThan(300)
  expect(cache.get(1, 'select', ['key 999'])).toBeDefined()
})

test('distinguishes statements and parameters with any content', () => {
  const cache = new QueryCache()
  const all = [
    ['select ? ?', 'ab', 'c'],
    ['select ? ?', 'a', 'bc'],
    ['select ? ?', 'abc', ''],
    ['select ? ?', '', 'abc'],
    ['select ?', 'abc'],
    ['select ?', 'ab'],
    ['select 1'],
    ['select ? ? ?', 'ab', 'c', ''],
  ] as const
  cache.get(1, '', [])
  for (const [sql, ...parameters] of all) {
    expect(cache.get(1, sql, parameters)).toBeUndefined()
    cache.set(sql, parameters, answer([sql, ...parameters].join('|')))
  }
  for (const [sql, ...parameters] of all) {
    expect(cache.get(1, sql, parameters)).toEqual(answer([sql, ...parameters].join('|')))
  }
})

test('recognizes string parameters', () => {
  expect(areTextParameters(['a', ''])).toBe(true)
  expect(areTextParameters([1])).toBe(false)
  expect(areTextParameters(['a', null])).toBe(false)
})

test('prints parameters of other types unambiguously', () => {
  const all = [
    [1, 'a', 'b'],
    [1, 'a,1:b', ''],
    [1, '', 'a,1:b'],
    [11, 'a', 'b'],
    [1, Buffer.of(1, 44), Buffer.of()],
    [1, Buffer.of(1), Buffer.of(44)],
    [1, Buffer.of(0xe9), Buffer.of()],
    [1, null, 'null'],
    [1, 'null', 'null'],
    ['1', null, 'null'],
  ]
  expect(new Set(all.map(textOf)).size).toBe(all.length)
})

test('caches a single row of a query with other parameters, until the store changes', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-query-cache-'))
  const path = join(folder, 'test.sqlite')
  const writer = new DatabaseSync(path)
  writer.exec('pragma journal_mode = wal; create table notes (id integer primary key, text)')
  writer.exec("insert into notes values (1, 'a'), (2, 'b')")
  const reader = new DatabaseSync(path, { readOnly: true })
  const reads = new SqliteReads(reader)
  const all = vi.spyOn(SqliteStatements.prototype, 'execute')
  const sumTo = (id: number) =>
    reads.cached(
      CompiledQuery.raw('select group_concat(text) as texts from notes where id <= ?', [id]),
    )
  try {
    const first = sumTo(2)
    expect(first.rows).toEqual([{ texts: 'a,b' }])
    expect(sumTo(2)).toBe(first)
    expect(sumTo(1).rows).toEqual([{ texts: 'a' }])
    expect(all).toHaveBeenCalledTimes(2)
    writer.prepare('update notes set text = ? where id = 1').run('x'.repeat(MAX_ROW_BYTES))
    reads.refresh()
    const large = sumTo(2)
    expect(large).not.toBe(first)
    expect(sumTo(2)).not.toBe(large)
  } finally {
    all.mockRestore()
    reads.refresh()
    reader.close()
    writer.close()
    rmSync(folder, { recursive: true })
  }
})
