import { expect, test } from 'vitest'
import { diffFields, diffRules } from './audit-detail.tsx'

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

test('a change of a policy has a line in words for each rule, and the end of its trial', () => {
  const before = { policy: { readOnly: true, note: 'a' } }
  const after = { policy: { note: 'a' }, trialUntil: '2026-05-01T12:00:00Z' }
  expect(diffRules({ action: 'policy.set', before, after })).toEqual([
    { key: 'Documents', before: 'read-only', after: 'read and write', changed: true },
    {
      key: 'Trial',
      before: undefined,
      after: expect.stringMatching(/^until .*2026/),
      changed: true,
    },
  ])
  expect(diffRules({ action: 'policy.remove', before, after: null })).toHaveLength(2)
  expect(diffRules({ action: 'policy.set', before: null, after: { policy: { odd: 1 } } })).toBe(
    undefined,
  )
  expect(diffRules({ action: 'endpoint.map', before: null, after: null })).toBe(undefined)
})
