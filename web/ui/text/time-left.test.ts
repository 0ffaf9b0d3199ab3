import { expect, test } from 'vitest'
import { formatTimeLeft } from './relative-time.tsx'

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
])('%i ms are formatted as "%s"', (milliseconds, message) => {
  expect(formatTimeLeft(milliseconds)).toBe(message)
})
