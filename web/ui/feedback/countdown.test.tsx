import { expect, test } from 'vitest'
import { formatRemaining } from './countdown.tsx'

test.each([
  [-1, '0 s'],
  [1, '1 s'],
  [8_000, '8 s'],
  [99_000, '99 s'],
  [99_001, '2 min'],
  [300_000, '5 min'],
])('%i ms are formatted as "%s"', (milliseconds, message) => {
  expect(formatRemaining(milliseconds)).toBe(message)
})
