import { expect, test } from 'vitest'
import { percentileOf } from '../shared/response-times.ts'
import { format } from './figures.ts'

const bounds = [0.01, 0.1, 1]

test('a percentile is interpolated in its bucket, and unknown without requests', () => {
  expect(percentileOf([0, 0, 0, 0], bounds, 95)).toBeNull()
  expect(percentileOf([100, 0, 0, 0], bounds, 95)).toBeCloseTo(0.0095)
  expect(percentileOf([90, 10, 0, 0], bounds, 95)).toBeCloseTo(0.055)
  expect(percentileOf([90, 0, 0, 10], bounds, 95)).toBe(1)
})

test('figures have units that people read, and a dash if they are unknown', () => {
  expect([format.seconds(0.0042), format.seconds(1.5), format.seconds(null)]).toEqual([
    '4.2 ms',
    '1.5 s',
    '–',
  ])
  expect([format.share(0.0184), format.rate(0), format.count(1_204)]).toEqual([
    '1.8%',
    '0',
    '1,204',
  ])
})
