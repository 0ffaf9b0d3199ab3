import { expect, test } from 'vitest'
import { bulkRun } from '../bulk/bulk-run.testing.ts'
import { formatImportResult, formatPlan } from './format-import.ts'
import type { ImportChange } from './import-plan.ts'

const change = (kind: ImportChange['kind']): ImportChange => ({
  kind,
  address: 'tcp://127.0.0.1:1',
  before: null,
  after: null,
  revision: undefined,
})
const others = (count: number) => Array.from({ length: count }, (_, n) => `tcp://127.0.0.1:${n}`)

test.each([
  [
    [change('added'), change('changed')],
    0,
    301,
    '1 will be added and 1 changed. The 301 endpoints that are not in the file will be kept.',
  ],
  [
    [change('added')],
    2,
    1,
    '1 will be added. 2 are unchanged. The endpoint that is not in the file will be kept.',
  ],
  [[], 1, 0, '1 is unchanged.'],
  [[], 0, 0, 'The file is empty.'],
])(
  'a plan with the changes %j, %i unchanged and %i others reads %j',
  (changes, same, more, text) => {
    expect(formatPlan({ changes, unchanged: others(same), others: others(more) }, false)).toBe(text)
  },
)

test('removals are counted, and nothing is kept', () => {
  const changes = [change('added'), change('changed'), change('removed')]
  expect(formatPlan({ changes, unchanged: [], others: [] }, true)).toBe(
    '1 will be added, 1 changed and 1 removed.',
  )
})

test('an outcome is counted', () => {
  const run = bulkRun({
    ...{ total: 4, made: 1, unchanged: 0, end: 'completed' },
    failures: ['a', 'b'].map((endpoint) => ({ endpoint, reason: 'The port is taken.' })),
  })
  expect(formatImportResult(run)).toBe(
    '1 of 4 changes was made. 2 failed. 1 endpoint was not removed, because another change failed.',
  )
  expect(formatImportResult(bulkRun({ ...run, end: 'cancelled' }))).toBe(
    'Cancelled. At least 1 of 4 changes was made. 2 failed.',
  )
  expect(formatImportResult(bulkRun({ total: 2, made: 1, unchanged: 1 }))).toBe(
    'All 2 changes were made.',
  )
})
