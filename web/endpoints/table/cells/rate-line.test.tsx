import { expect, test } from 'vitest'
import { linePoints, roundScale } from './rate-line.tsx'

test('the maximum of the scale is at the top and zero at the bottom', () => {
  expect(linePoints([0, 10], 10)).toEqual(['0,18.5 72,1.5'])
  expect(linePoints([0, 0, 0], 1)).toEqual(['0,18.5 36,18.5 72,18.5'])
})

test('missing data is a gap', () => {
  expect(linePoints([1, 1, null, 1, 1], 1)).toEqual(['0,1.5 18,1.5', '54,1.5 72,1.5'])
  expect(linePoints([], 1)).toEqual([])
})

test.each([
  [0, 1],
  [0.4, 1],
  [1.2, 2],
  [10, 10],
  [99, 100],
  [120, 200],
  [5_001, 10_000],
])('rates up to %d have a scale up to %d', (highest, scale) => {
  expect(roundScale(highest)).toBe(scale)
})
