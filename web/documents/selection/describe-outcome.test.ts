import { expect, test } from 'vitest'
import type { DocumentFailure, SelectionOutcome } from './change-selected.ts'
import { describeOutcome, listFailures } from './describe-outcome.ts'

const failure = (id: string, isUnknown: boolean): DocumentFailure => ({ id, reason: '', isUnknown })
const nothing: SelectionOutcome = { verb: 'deleted', changes: [], failures: [], gone: 0 }
const change = { before: { id: 'a', json: '{}', etag: '"1"' }, after: undefined }

test('an outcome counts changed, rejected and missing documents', () => {
  const outcome = { ...nothing, changes: [change], failures: [failure('b', false)], gone: 2 }
  expect(describeOutcome(outcome)).toBe(
    '1 document was deleted. 1 document could not be deleted. 2 documents no longer exist.',
  )
})

test('an outcome does not say that documents were kept if no response arrived', () => {
  expect(describeOutcome({ ...nothing, failures: [failure('a', true)] })).toBe(
    '1 document may or may not have been deleted.',
  )
  const failures = [failure('a', true), failure('b', false), failure('c', true)]
  expect(describeOutcome({ ...nothing, failures })).toBe(
    '2 documents may or may not have been deleted. 1 document could not be deleted.',
  )
})

test('a report lists three failures and counts the others', () => {
  const failures = ['a', 'b', 'c', 'd', 'e'].map((id) => failure(id, false))
  const list = (count: number) => {
    const { listed, unlisted } = listFailures(failures.slice(0, count))
    return [listed.map(({ id }) => id).join(), unlisted]
  }
  expect(list(3)).toEqual(['a,b,c', undefined])
  expect(list(4)).toEqual(['a,b,c', '1 other document is not listed.'])
  expect(list(5)).toEqual(['a,b,c', '2 other documents are not listed.'])
})
