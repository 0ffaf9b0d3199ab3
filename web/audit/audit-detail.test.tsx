import { expect, test } from 'vitest'
import { diffFields } from './audit-detail.tsx'

test('keys are aligned and differences marked', () => {
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

test('an empty state has no lines, and a value without keys has one', () => {
  expect(diffFields(null, null)).toEqual([])
  expect(diffFields(null, 'x')).toEqual([
    { key: 'value', before: undefined, after: '"x"', changed: true },
  ])
})
