import { expect, test } from 'vitest'
import { formatCount, formatRate } from './format-number.ts'

test('thousands are separated', () => {
  expect(formatCount(1_234_567)).toBe('1,234,567')
})

test.each([
  [0, '0'],
  [0.44, '0.4'],
  [9.94, '9.9'],
  [9.96, '10'],
  [12.4, '12'],
  [1_204.4, '1,204'],
])('the rate %d is formatted as %s', (rate, text) => {
  expect(formatRate(rate)).toBe(text)
})
