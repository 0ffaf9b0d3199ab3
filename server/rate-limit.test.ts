import { describe, expect, it } from 'vitest'
import { createRateLimit, RATE_LIMIT_KEYS, tooManyRequests } from './rate-limit.ts'

describe('a rate limit', () => {
  it('allows a number of actions per key and period, and returns how long to wait', () => {
    let time = 0
    const limit = createRateLimit({ max: 2, period: 1000, now: () => time })
    expect([limit.consume('a'), limit.consume('a')]).toEqual([0, 0])
    time = 400
    expect([limit.consume('a'), limit.consume('b')]).toEqual([600, 0])
    time = 999
    expect(limit.consume('a')).toBe(1)
    time = 1000
    expect([limit.consume('a'), limit.consume('a'), limit.consume('a')]).toEqual([0, 0, 1000])
    expect([limit.get('a'), limit.get('b')]).toEqual([
      { count: 2, ends: 2000 },
      { count: 1, ends: 1400 },
    ])
  })

  it('allows one more action for each refund, but no more than without any', () => {
    const limit = createRateLimit({ max: 1, period: 1000, now: () => 0 })
    limit.consume('a')
    limit.refund('a')
    limit.refund('a')
    limit.refund('unknown')
    expect([limit.consume('a'), limit.consume('a')]).toEqual([0, 1000])
  })

  it('begins a new period if the clock was set back', () => {
    let time = 10_000
    const limit = createRateLimit({ max: 1, period: 1000, now: () => time })
    limit.consume('a')
    time = 8_000
    expect([limit.consume('a'), limit.consume('a')]).toEqual([0, 1000])
  })

  it('adopts a count from elsewhere until its period ends', () => {
    let time = 0
    const limit = createRateLimit({ max: 5, period: 1000, now: () => time })
    limit.set('a', { count: 5, ends: 300 })
    expect(limit.consume('a')).toBe(300)
    limit.set('a', { count: 4, ends: 300 })
    expect([limit.consume('a'), limit.consume('a')]).toEqual([0, 300])
    time = 300
    expect(limit.consume('a')).toBe(0)
  })

  it.each([undefined, 3])('keeps a bounded number of keys: %s', (keys) => {
    const forgotten: string[] = []
    const onEvict = (key: string) => void forgotten.push(key)
    const limit = createRateLimit({ max: 1, period: 1000, maxKeys: keys, onEvict, now: () => 0 })
    const most = keys ?? RATE_LIMIT_KEYS
    limit.consume('first')
    limit.consume('second')
    for (let n = 2; n < most; n++) limit.consume(`key ${n}`)
    expect([limit.consume('first'), forgotten]).toEqual([1000, []])
    limit.consume('one more')
    expect(forgotten).toEqual(['first'])
    expect([limit.consume('first'), limit.get('second')]).toEqual([0, undefined])
    limit.set('another', { count: 1, ends: 500 })
    expect(forgotten).toHaveLength(3)
  })

  it('forgets keys whose period has ended as soon as another key is counted', () => {
    let time = 0
    const forgotten: string[] = []
    const onEvict = (key: string) => void forgotten.push(key)
    const limit = createRateLimit({ max: 1, period: 1000, onEvict, now: () => time })
    for (const key of ['a', 'b']) limit.consume(key)
    time = 500
    limit.consume('c')
    time = 1000
    limit.consume('d')
    expect(forgotten).toEqual(['a', 'b'])
  })
})

describe('tooManyRequests', () => {
  it('rounds the wait up to seconds', () => {
    expect(tooManyRequests('Too many', 1_001)).toMatchObject({
      code: 'too-many-requests',
      message: 'Too many. Try again in 2 s.',
      headers: { 'Retry-After': '2' },
    })
  })
})
