import { expect, test } from 'vitest'
import { formatAgo } from './relative-time.tsx'

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
