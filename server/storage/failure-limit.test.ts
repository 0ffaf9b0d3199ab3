import { describe, expect, it } from 'vitest'
import { forEachEngine } from './each-engine.testing.ts'
import { countFailure, FAILURES, failureKey, PERIOD } from './failure-limit.ts'

forEachEngine((engine) => {
  it('lets failures pass up to the limit, then refuses until the period ends', async () => {
    const store = await engine.open()
    for (let n = 0; n < FAILURES; n++) await countFailure(store, 'a', n)
    await expect(countFailure(store, 'a', 100)).rejects.toMatchObject({
      code: 'too-many-requests',
      headers: { 'Retry-After': '300' },
    })
    await countFailure(store, 'b', 100)
    await countFailure(store, 'a', PERIOD)
  })

  it('counts what several nodes of a store are asked together', async () => {
    const stores = [await engine.open('tool'), await engine.open('tool')] as const
    for (let n = 0; n < FAILURES; n++) await countFailure(stores[n % 2 ? 1 : 0], 'a', n)
    for (const store of stores) {
      await expect(countFailure(store, 'a', FAILURES)).rejects.toThrow('Too many failed attempts')
    }
  })

  it('counts each of many at once', async () => {
    const store = await engine.open()
    const results = await Promise.allSettled(
      Array.from({ length: FAILURES + 5 }, () => countFailure(store, 'a', 0)),
    )
    expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(5)
  })
})

describe('failureKey', () => {
  it.each([
    ['192.0.2.7', 'token/192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', 'token/2001:db8:1:2::/64'],
    ['2001:DB8:0001:2::9', 'token/2001:db8:1:2::/64'],
    ['2001:db8::1', 'token/2001:db8:0:0::/64'],
    ['::1', 'token/0:0:0:0::/64'],
    [null, 'token/unix'],
  ])('of %s is %s', (address, key) => {
    expect(failureKey('token', address)).toBe(key)
  })
})
