import { expect, test } from 'vitest'
import { diffFields, diffRules } from './audit-detail.tsx'

test('what differs is put in words, and what does not is left out', () => {
  expect(
    diffFields(
      { databases: ['blog'], revision: 1, role: 'viewer' },
      { databases: ['blog', 'shop'], revokedTokens: 2, role: 'viewer' },
    ),
  ).toEqual([
    { key: 'databases', before: 'blog', after: 'blog, shop' },
    { key: 'revision', before: '1', after: undefined },
    { key: 'revoked tokens', before: undefined, after: '2' },
  ])
  expect(diffFields({ databases: ['a'] }, { databases: [] })).toMatchObject([
    { after: 'every database' },
  ])
  expect(diffFields(null, { refused: 'database-exists' })).toMatchObject([
    { key: 'refused', after: 'database exists' },
  ])
})

test('the policy of a removed endpoint and a retention are put in words', () => {
  const removed = { databases: ['shop'], policy: { readOnly: true, note: 'Catalogue' } }
  expect(diffFields(removed, null)).toEqual([
    { key: 'databases', before: 'shop', after: undefined },
    { key: 'Note', before: 'Catalogue', after: undefined },
    { key: 'Documents', before: 'read-only', after: undefined },
  ])
  expect(diffFields(null, { retain: 604_800_000 })).toMatchObject([{ after: '7d' }])
})

test('an empty state has no lines, and a value without keys has one', () => {
  expect(diffFields(null, null)).toEqual([])
  expect(diffFields(null, 'x')).toEqual([{ key: 'value', before: undefined, after: 'x' }])
})

test('a change of a policy has a line in words for each rule, and the end of its trial', () => {
  const before = { policy: { readOnly: true, note: 'a' } }
  const after = { policy: { note: 'a' }, trialUntil: '2026-05-01T12:00:00Z' }
  expect(diffRules({ action: 'policy.set', before, after })).toEqual([
    { key: 'Documents', before: 'read-only', after: 'read and write' },
    {
      key: 'Trial',
      before: undefined,
      after: expect.stringMatching(/^until .*2026/),
    },
  ])
  expect(diffRules({ action: 'policy.remove', before, after: null })).toHaveLength(2)
  expect(diffRules({ action: 'policy.set', before: null, after: { policy: { odd: 1 } } })).toBe(
    undefined,
  )
  expect(diffRules({ action: 'endpoint.map', before: null, after: null })).toBe(undefined)
})
