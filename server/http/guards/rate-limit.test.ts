import { expect, it } from 'vitest'
import { createRateLimit } from './rate-limit.ts'

it('allows so many a period and key, and as many again in the next', () => {
  let time = 0
  const allow = createRateLimit(2, 1000, () => time)
  expect([allow('a'), allow('a'), allow('a'), allow('b')]).toEqual([true, true, false, true])
  time = 999
  expect(allow('a')).toBe(false)
  time = 1000
  expect(allow('a')).toBe(true)
})

it('forgets everything rather than grow without bound', () => {
  const allow = createRateLimit(1, 1000, () => 0)
  expect([allow('a'), allow('a')]).toEqual([true, false])
  for (let n = 0; n < 10_000; n++) allow(`other-${n}`)
  expect(allow('a')).toBe(true)
})
