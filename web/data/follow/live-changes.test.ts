import { expect, test } from 'vitest'
import type { DocumentChange } from '../../../server/contract/feed.ts'
import { addChanges } from './live-changes.tsx'

const change = (number: number, id: string): DocumentChange => ({
  ...{ position: `a-${number}`, id, change: 'replaced', etag: '"e"' },
  at: `2026-01-01T00:00:0${number}Z`,
})

test('a document that changed twice counts once', () => {
  const before = { position: 'a-1', latest: undefined }
  const after = addChanges(before, [change(2, 'one'), change(3, 'two'), change(4, 'one')])
  expect(after).toEqual({
    position: 'a-4',
    latest: { documents: 2, at: '2026-01-01T00:00:04Z' },
  })
})

test('no changes keep the position and what was shown', () => {
  const before = { position: 'a-4', latest: { documents: 2, at: '2026-01-01T00:00:04Z' } }
  expect(addChanges(before, [])).toBe(before)
})
