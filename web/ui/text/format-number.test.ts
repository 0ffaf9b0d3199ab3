import { expect, test } from 'vitest'
import { formatBytes, formatCount, formatRate } from './format-number.ts'

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

test.each([
  [0, '0 B'],
  [0.4, '0 B'],
  [999, '999 B'],
  [999.5, '1 kB'],
  [1_000, '1 kB'],
  [1_234, '1.2 kB'],
  [9_949, '9.9 kB'],
  [9_950, '10 kB'],
  [999_499, '999 kB'],
  [999_500, '1 MB'],
  [64 * 1024 * 1024, '67 MB'],
  [5e15, '5,000 TB'],
])('%d bytes are formatted as %s', (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text)
})
