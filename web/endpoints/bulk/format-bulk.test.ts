import { expect, test } from 'vitest'
import { bulkRun } from './bulk-run.testing.ts'
import { formatBulkProgress, formatBulkResult } from './format-bulk.ts'

test('a running bulk change is described by its action', () => {
  expect(formatBulkProgress(bulkRun({ total: 5_000 }))).toBe('Changing 5,000 endpoints')
  expect(formatBulkProgress(bulkRun({ total: 1, removals: 1 }))).toBe('Removing 1 endpoint')
  expect(formatBulkProgress(bulkRun({ total: 2, kind: 'undo' }))).toBe('Undoing 2 changes')
})

test('a finished bulk change is counted', () => {
  const failures = [{ endpoint: 'tcp://a:1', reason: 'The port is taken.' }]
  expect(formatBulkResult(bulkRun({ removals: 100 }))).toBe('100 endpoints were removed.')
  expect(formatBulkResult(bulkRun({ made: 1, failures, unchanged: 98 }))).toBe(
    '1 of 100 endpoints was changed. 98 needed no change. 1 failed.',
  )
  expect(formatBulkResult(bulkRun({ made: 9, failures }))).toBe(
    '9 of 100 endpoints were changed. 1 failed. 90 were not started.',
  )
  expect(formatBulkResult(bulkRun({ end: 'cancelled', made: 40 }))).toBe(
    'Cancelled. At least 40 of 100 endpoints were changed.',
  )
  expect(formatBulkResult(bulkRun({ end: new Error('Broken.'), made: 0 }))).toBe(
    'Broken. Changes in progress may have been made.',
  )
  expect(formatBulkResult(bulkRun({ kind: 'undo', total: 1, made: 1 }))).toBe(
    '1 change was undone.',
  )
})
