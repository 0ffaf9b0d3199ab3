import { expect, test } from 'vitest'
import { isMultipleOf } from './keywords.ts'

test.each([
  [0, 5],
  [-15, 5],
  [-0, 0.1],
  [19.99, 0.01],
  [0.3, 0.1],
  [1e308, 0.01],
  [5e-324, 5e-324],
  [1.5e300, 1e299],
  [9007199254740994, 2],
])('%d is a multiple of %d', (value, divisor) => {
  expect(isMultipleOf(value, divisor)).toBe(true)
})

test.each([
  [1, 10_000_000_000],
  [10_000_000_001, 10_000_000_000],
  [5e-7, 1000],
  [19.995, 0.01],
  [1, 3e-1],
  [1e-7, 1],
  [4, 4_294_967_296],
])('%d is not a multiple of %d', (value, divisor) => {
  expect(isMultipleOf(value, divisor)).toBe(false)
})
