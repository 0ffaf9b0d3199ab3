import type { CompiledQuery } from 'kysely'
import { expect, test } from 'vitest'
import { keyOf, RememberedAnswers } from './remembered-answers.ts'

const answer = (body: string) => ({ rows: [{ body }] })

test('remembers an answer until the store is of another version', () => {
  const remembered = new RememberedAnswers()
  const first = answer('first')
  expect(remembered.find(1, 'key')).toBeUndefined()
  remembered.keep('key', first)
  expect(remembered.find(1, 'key')).toBe(first)
  expect(remembered.find(1, 'another')).toBeUndefined()
  expect(remembered.find(2, 'key')).toBeUndefined()
  // Not even where that version should come again.
  expect(remembered.find(1, 'key')).toBeUndefined()
})

test('keeps nothing of a version that is not known', () => {
  const remembered = new RememberedAnswers()
  remembered.find(undefined, 'key')
  remembered.keep('key', answer('of some version'))
  expect(remembered.find(undefined, 'key')).toBeUndefined()
})

test('lets nobody change what it answers again', () => {
  const remembered = new RememberedAnswers()
  remembered.find(1, 'key')
  const kept = answer('as it is stored')
  remembered.keep('key', kept)
  expect(() => Object.assign(kept.rows[0] as object, { body: 'changed' })).toThrow(TypeError)
})

test('keeps no answer that is long, and begins anew when it is full', () => {
  const remembered = new RememberedAnswers()
  remembered.find(1, '')
  remembered.keep('long', answer('x'.repeat(33_000)))
  expect(remembered.find(1, 'long')).toBeUndefined()
  const body = 'x'.repeat(30_000)
  const kept = () => Array.from({ length: 1_000 }, (_, at) => remembered.find(1, `key ${at}`))
  let most = 0
  for (let at = 0; at < 1_000; at += 1) {
    remembered.keep(`key ${at}`, answer(body))
    most = Math.max(most, kept().filter((each) => each !== undefined).length)
  }
  expect(most).toBeGreaterThan(200)
  expect(most).toBeLessThan(300)
  expect(remembered.find(1, 'key 999')).toBeDefined()
})

test('tells queries apart, whatever their parameters hold', () => {
  const key = (sql: string, ...parameters: unknown[]) =>
    keyOf({ sql, parameters } as unknown as CompiledQuery)
  const all = [
    key('select', 'ab', 'c'),
    key('select', 'a', 'bc'),
    key('select', 'abc', ''),
    key('select', 'abc'),
    key('select', '', 'abc'),
    key('delect', 'ab', 'c'),
    key('select', '1 1 a', 'b'),
    key('select', '1', ' 1 ab'),
  ]
  expect(new Set(all).size).toBe(all.length)
  expect(key('select', 1)).toBeUndefined()
  expect(key('select', 'a', null)).toBeUndefined()
})
