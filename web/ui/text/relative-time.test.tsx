import { expect, test } from 'vitest'
import { formatAgo, formatTimeLeft } from './relative-time.tsx'

test.each([
  [-5_000, 'now'],
  [1_900, 'now'],
  [2_000, '2 s ago'],
  [59_999, '59 s ago'],
  [60_000, '1 min ago'],
  [3_599_000, '59 min ago'],
  [3_600_000, '1 h ago'],
  [86_400_000, '1 d ago'],
  [864_000_000, '10 d ago'],
])('%i ms are formatted as "%s"', (milliseconds, message) => {
  expect(formatAgo(milliseconds)).toBe(message)
})

test.each([
  [-1, ''],
  [0, ''],
  [500, 'in 1 s'],
  [59_400, 'in 59 s'],
  [60_000, 'in 1 min'],
  [3_600_000, 'in 1 h'],
  [47 * 3_600_000, 'in 47 h'],
  [48 * 3_600_000, 'in 2 d'],
  [90 * 86_400_000 - 1_000, 'in 90 d'],
  [29.4 * 86_400_000, 'in 29 d'],
])('%i ms that are left are formatted as "%s"', (milliseconds, message) => {
  expect(formatTimeLeft(milliseconds)).toBe(message)
})
