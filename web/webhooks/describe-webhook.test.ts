import { expect, test } from 'vitest'
import {
  describeBehind,
  describeContent,
  describeGaps,
  describeOutcome,
} from './describe-webhook.ts'

const NOW = Date.parse('2026-01-01T12:00:00Z')

test.each([
  [0, null, 'Up to date'],
  [1, null, '1 change behind'],
  [1, '2026-01-01T11:59:59.500Z', '1 change behind'],
  [412, '2026-01-01T11:57:00Z', '412 changes behind, oldest 3 min'],
  [1_204, '2025-12-30T12:00:00Z', '1,204 changes behind, oldest 2 d'],
])('a webhook with %i changes since %s is shown as %s', (changes, oldest, shown) => {
  expect(describeBehind({ changes, oldest }, NOW)).toBe(shown)
})

test('an attempt is described by its status, or by why there is none', () => {
  expect(describeOutcome({ status: 200, milliseconds: 1_250 })).toBe('200 in 1,250 ms')
  expect(describeOutcome({ status: null, milliseconds: 9, error: 'refused' })).toBe(
    'no response after 9 ms: refused',
  )
})

test('a delivery is described by its content', () => {
  expect(describeContent({ collection: null, changes: 0 })).toBe('Test')
  expect(describeContent({ collection: 'notes', changes: 1 })).toBe('1 change of notes')
})

test('gaps tell the number of changes that were skipped, if it is known', () => {
  expect(
    describeGaps([
      { collection: 'notes', changes: 12 },
      { collection: 'articles', changes: null },
    ]),
  ).toEqual([
    expect.stringMatching(/^12 changes of notes had expired/),
    expect.stringMatching(/^Changes of articles had expired/),
  ])
})
