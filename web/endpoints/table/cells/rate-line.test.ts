import { expect, test } from 'vitest'
import { linePoints } from './rate-line.tsx'

test('the maximum is at the top and zero at the bottom', () => {
  expect(linePoints([0, 10])).toEqual(['0,18.5 96,1.5'])
  expect(linePoints([0, 0, 0])).toEqual(['0,18.5 48,18.5 96,18.5'])
})

test('missing data is a gap', () => {
  expect(linePoints([1, 1, null, 1, 1])).toEqual(['0,1.5 24,1.5', '72,1.5 96,1.5'])
  expect(linePoints([])).toEqual([])
})
