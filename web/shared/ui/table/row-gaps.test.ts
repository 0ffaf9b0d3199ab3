import { expect, test } from 'vitest'
import { rowsAndGaps, withActive } from './row-gaps.ts'

const item = (index: number) => ({ index, start: index * 36, end: (index + 1) * 36 })

test('rows stand at their places, whatever is not in the page', () => {
  expect(rowsAndGaps([item(0), item(5), item(6)], { from: 0, to: 360 })).toEqual([
    { index: 0 },
    { gap: 144, before: 5 },
    { index: 5 },
    { index: 6 },
    { gap: 108, before: -1 },
  ])
  expect(rowsAndGaps([], { from: 0, to: 0 })).toEqual([])
})

test('the row with the focus is in the page, wherever it is', () => {
  expect(withActive([4, 5], 0, 10)).toEqual([0, 4, 5])
  expect(withActive([4, 5], 5, 10)).toEqual([4, 5])
  expect(withActive([], 0, 0)).toEqual([])
})
