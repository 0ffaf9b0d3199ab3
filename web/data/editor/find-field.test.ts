import { expect, test } from 'vitest'
import { findRanges } from './find-field.tsx'

test('finds each occurrence, ignoring case, and none in another', () => {
  expect(findRanges('Aa aA', 'aa')).toEqual([
    { from: 0, to: 2 },
    { from: 3, to: 5 },
  ])
  expect(findRanges('aaa', 'aa')).toEqual([{ from: 0, to: 2 }])
  expect(findRanges('text', '')).toEqual([])
})

test('limits the number of matches', () => {
  expect(findRanges('a'.repeat(5_000), 'a')).toHaveLength(1_000)
})
