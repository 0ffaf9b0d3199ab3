import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatJson } from '../editor/document-text.ts'
import { compareDocuments } from './compare-documents.ts'

/** Returns the changed lines of both documents. */
function changedLines(before: unknown, after: unknown): string[][] {
  const compared = compareDocuments(JSON.stringify(before), JSON.stringify(after))
  return [compared.before, compared.after].map((parts) =>
    parts
      .filter(({ isChanged }) => isChanged)
      .flatMap(({ text }) => text.split('\n'))
      .map((line) => line.trim()),
  )
}

test.each([
  [{ a: 1 }, { a: 1 }, [], []],
  // The comma after a line may change.
  [{ a: 1 }, { a: 1, b: 2 }, [], ['"b": 2']],
  [{ a: 1, b: 2 }, { b: 2 }, ['"a": 1,'], []],
  [{ a: { b: 1, c: 2 } }, { a: { b: 1, c: 3 } }, ['"c": 2'], ['"c": 3']],
  [{ a: 1 }, { a: { b: 1 } }, ['"a": 1'], ['"a": {', '"b": 1', '}']],
  [{ a: [1, 2] }, { a: [1, 3, 4] }, ['2'], ['3,', '4']],
  // Equal lines of other fields do not count.
  [
    { a: { n: 1 }, b: {} },
    { a: {}, b: { n: 1 } },
    ['"a": {', '"n": 1', '},', '"b": {}'],
    ['"a": {},', '"b": {', '"n": 1', '}'],
  ],
])('From %j to %j, the lines %j become %j', (before, after, removed, added) => {
  expect(changedLines(before, after)).toEqual([removed, added])
})

test('All lines are those of the printed document', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (document) => {
      const json = JSON.stringify(document)
      const { after } = compareDocuments('{}', json)
      expect(after.map(({ text }) => text).join('\n')).toBe(formatJson(json))
      expect(compareDocuments(json, json).before.some(({ isChanged }) => isChanged)).toBe(false)
    }),
  )
})
