import { expect, test } from 'vitest'
import { formatBytes } from './format-bytes.ts'

test.each([
  [0, '0 B'],
  [999, '999 B'],
  [1_000, '1.0 kB'],
  [1_234, '1.2 kB'],
  [9_949, '9.9 kB'],
  [9_950, '10 kB'],
  [999_499, '999 kB'],
  [999_500, '1.0 MB'],
  [64 * 1024 * 1024, '67 MB'],
  [5e15, '5000 TB'],
])('%d bytes are formatted as %s', (bytes, message) => {
  expect(formatBytes(bytes)).toBe(message)
})
