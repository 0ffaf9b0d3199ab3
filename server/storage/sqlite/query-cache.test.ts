import { expect, test } from 'vitest'
import { areTextParameters, QueryCache } from './query-cache.ts'

const answer = (body: string) => ({ rows: [{ body }] })

test('caches a result until the version of the store changes', () => {
  const remembered = new QueryCache()
  const first = answer('first')
  expect(remembered.get(1, 'select', ['key'])).toBeUndefined()
  remembered.set('select', ['key'], first)
  expect(remembered.get(1, 'select', ['key'])).toBe(first)
  expect(remembered.get(1, 'select', ['another'])).toBeUndefined()
  expect(remembered.get(2, 'select', ['key'])).toBeUndefined()
  // The cache was cleared at version 2, so version 1 misses even if it recurs.
  expect(remembered.get(1, 'select', ['key'])).toBeUndefined()
})

test('caches nothing for an unknown version', () => {
  const remembered = new QueryCache()
  remembered.get(undefined, 'select', ['key'])
  remembered.set('select', ['key'], answer('of some version'))
  expect(remembered.get(undefined, 'select', ['key'])).toBeUndefined()
})

test('freezes cached rows', () => {
  const remembered = new QueryCache()
  remembered.get(1, 'select', ['key'])
  const kept = answer('as it is stored')
  remembered.set('select', ['key'], kept)
  expect(() => Object.assign(kept.rows[0] as object, { body: 'changed' })).toThrow(TypeError)
})

test('caches no long result, and is cleared when full', () => {
  const remembered = new QueryCache()
  remembered.get(1, 'select', [''])
  remembered.set('select', ['long'], answer('x'.repeat(33_000)))
  expect(remembered.get(1, 'select', ['long'])).toBeUndefined()
  const body = 'x'.repeat(30_000)
  const kept = () =>
    Array.from({ length: 1_000 }, (_, at) => remembered.get(1, 'select', [`key ${at}`]))
  let most = 0
  for (let at = 0; at < 1_000; at += 1) {
    remembered.set('select', [`key ${at}`], answer(body))
    most = Math.max(most, kept().filter((each) => each !== undefined).length)
  }
  expect(most).toBeGreaterThan(200)
  expect(most).toBeLessThan(300)
  expect(remembered.get(1, 'select', ['key 999'])).toBeDefined()
})

test('distinguishes statements and parameters with any content', () => {
  const remembered = new QueryCache()
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
  remembered.get(1, '', [])
  for (const [sql, ...parameters] of all) {
    expect(remembered.get(1, sql, parameters)).toBeUndefined()
    remembered.set(sql, parameters, answer([sql, ...parameters].join('|')))
  }
  for (const [sql, ...parameters] of all) {
    expect(remembered.get(1, sql, parameters)).toEqual(answer([sql, ...parameters].join('|')))
  }
})

test('is used only with string parameters', () => {
  expect(areTextParameters(['a', ''])).toBe(true)
  expect(areTextParameters([1])).toBe(false)
  expect(areTextParameters(['a', null])).toBe(false)
})
