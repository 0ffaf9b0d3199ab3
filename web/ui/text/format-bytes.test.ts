import { expect, test } from 'vitest'
import { formatBytes } from './format-bytes.ts'

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
