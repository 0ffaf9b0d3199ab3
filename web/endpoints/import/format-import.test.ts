import { expect, test } from 'vitest'
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

test.each([
  [new Map([['tcp://127.0.0.1:1', 'The port is taken.']]), '1 of 3 changes was made. 2 failed.'],
  [undefined, '1 of 3 changes was made. 2 failed. The list of failures could not be loaded.'],
])('an outcome with the failures %j reads %j', (failures, text) => {
  const run = {
    id: '1',
    total: 3,
    made: 1,
    failed: 2,
    cancelling: false,
    ownChanged: false,
    compared: true,
  } as const
  expect(formatImportResult({ ...run, failures, end: { by: 'all' } })).toBe(text)
})
