import { expect, test } from 'vitest'
import { bulkChange as view } from './bulk-change.testing.ts'
import { formatBulkProgress, formatBulkResult } from './format-bulk.ts'

test('a running bulk change is described by its action', () => {
  expect(formatBulkProgress(view({ total: 5_000 }))).toBe('Changing 5,000 endpoints')
  expect(formatBulkProgress(view({ total: 1, removals: 1 }))).toBe('Removing 1 endpoint')
  expect(formatBulkProgress(view({ total: 2, undoOf: 'y' }))).toBe('Undoing 2 changes')
})

test('a finished bulk change is counted', () => {
  expect(formatBulkResult(view({ removals: 100 }))).toBe('100 endpoints were removed.')
  expect(formatBulkResult(view({ made: 1, failed: 97, unchanged: 2 }))).toBe(
    '1 of 100 endpoints was changed. 2 needed no change. 97 failed.',
  )
  expect(formatBulkResult(view({ state: 'cancelled', made: 40, left: 60 }))).toBe(
    'Cancelled. 40 of 100 endpoints were changed. 60 were not started.',
  )
  expect(formatBulkResult(view({ state: 'stopped', made: 0, left: 100 }))).toBe(
    'Stopped: github:1 no longer has permission to change endpoints. ' +
      '0 of 100 endpoints were changed. 100 were not started.',
  )
  expect(formatBulkResult(view({ undoOf: 'y', total: 1, made: 1 }))).toBe('1 change was undone.')
})
