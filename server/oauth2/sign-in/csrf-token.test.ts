import { expect, test } from 'vitest'
import { createCsrfToken } from './csrf-token.ts'

test('a token has 32 uniformly distributed alphanumerics', () => {
  const counts = new Map<string, number>()
  for (let made = 0; made < 6_200; made++) {
    const token = createCsrfToken()
    expect(token).toMatch(/^[A-Za-z0-9]{32}$/)
    for (const sign of token) counts.set(sign, (counts.get(sign) ?? 0) + 1)
  }
  expect(counts.size).toBe(62)
  // Expected count: 3,200 each. A byte modulo 62 would give eight of the characters 3,875. A
  // correct implementation fails in one of 10^15 runs.
  for (const count of counts.values()) expect(Math.abs(count - 3_200)).toBeLessThan(450)
})
