import { expect, test } from 'vitest'
import { rowsAndGaps, withActive } from './use-row-range.ts'

const item = (index: number) => ({ index, start: index * 36, end: (index + 1) * 36 })

test('rendered rows keep their positions between gaps', () => {
  expect(rowsAndGaps([item(0), item(5), item(6)], { from: 0, to: 360 })).toEqual([
    { index: 0 },
    { gap: 144, before: 5 },
    { index: 5 },
    { index: 6 },
    { gap: 108, before: -1 },
  ])
  expect(rowsAndGaps([], { from: 0, to: 0 })).toEqual([])
})

test('the focused row is always rendered', () => {
  expect(withActive([4, 5], 0, 10)).toEqual([0, 4, 5])
  expect(withActive([4, 5], 5, 10)).toEqual([4, 5])
  expect(withActive([], 0, 0)).toEqual([])
})
