import { expect, test } from 'vitest'
import type { DocumentFailure, SelectionOutcome } from './change-selected.ts'
import { describeOutcome } from './describe-outcome.ts'

const failure = (id: string, isUnknown: boolean): DocumentFailure => ({ id, reason: '', isUnknown })
const nothing: SelectionOutcome = { verb: 'deleted', changes: [], failures: [], gone: 0 }
const change = { id: 'a', before: { id: 'a', json: '{}', etag: '"1"' }, after: undefined }

test('an outcome counts changed, rejected and missing documents', () => {
  const outcome = { ...nothing, changes: [change], failures: [failure('b', false)], gone: 2 }
  expect(describeOutcome(outcome)).toBe(
    '1 document deleted, 1 document could not be deleted, 2 documents no longer exist',
  )
})

test('an outcome does not say that documents were kept if no response arrived', () => {
  expect(describeOutcome({ ...nothing, failures: [failure('a', true)] })).toBe(
    '1 document may or may not have been deleted',
  )
  const failures = [failure('a', true), failure('b', false), failure('c', true)]
  expect(describeOutcome({ ...nothing, failures })).toBe(
    '2 documents may or may not have been deleted, 1 document could not be deleted',
  )
})
