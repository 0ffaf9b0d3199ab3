import { expect, test } from 'vitest'
import { diffFields } from './diff-fields.ts'

test('keys stand beside each other, and what differs is marked', () => {
  expect(
    diffFields({ databases: ['blog'], revision: 1 }, { databases: ['blog', 'shop'], note: null }),
  ).toEqual([
    { key: 'databases', before: '["blog"]', after: '["blog", "shop"]', changed: true },
    { key: 'revision', before: '1', after: undefined, changed: true },
    { key: 'note', before: undefined, after: 'null', changed: true },
  ])
  expect(diffFields({ a: { b: [] } }, { a: { b: [] } })).toEqual([
    { key: 'a', before: '{ "b": [] }', after: '{ "b": [] }', changed: false },
  ])
})

test('nothing is nothing, and what has no keys is one value', () => {
  expect(diffFields(null, null)).toEqual([])
  expect(diffFields(null, 'x')).toEqual([
    { key: 'value', before: undefined, after: '"x"', changed: true },
  ])
})
