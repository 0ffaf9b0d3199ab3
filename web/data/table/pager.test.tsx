import { expect, test } from 'vitest'
import { describePage } from './pager.tsx'

test('A page is described by the position of its documents, and their number if it is known', () => {
  const page = { size: 50, skipped: 150, total: undefined }
  expect(describePage(page)).toBe('Documents 151–200')
  expect(describePage({ ...page, total: 50_000 })).toBe('Documents 151–200 of 50,000')
  expect(describePage({ ...page, size: 1, total: 151 })).toBe('Document 151 of 151')
  // The count is older than the page.
  expect(describePage({ ...page, total: 199 })).toBe('Documents 151–200')
})

test('A page whose position is unknown is described by the number of its documents', () => {
  const page = { size: 50, skipped: undefined, total: undefined }
  expect(describePage(page)).toBe('50 documents on this page')
  expect(describePage({ ...page, total: 1_200 })).toBe('50 of 1,200 documents on this page')
  expect(describePage({ ...page, size: 1 })).toBe('1 document on this page')
})
