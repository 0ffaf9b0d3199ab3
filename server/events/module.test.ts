import { expect, it } from 'vitest'
import { createEventHub } from './hub.ts'
import { createSharedLookup } from './module.ts'

it('looks up a key once until the next event or wake, or for a second', async () => {
  const hub = createEventHub()
  let now = 0
  let looked = 0
  const once = createSharedLookup<number>(hub, () => now)
  const lookUp = (key = 'a') => once(key, async () => ++looked)
  expect(await Promise.all([lookUp(), lookUp(), lookUp('b'), lookUp()])).toEqual([1, 1, 2, 1])
  expect(await lookUp()).toBe(1)
  hub.publish({ type: 'audit' })
  expect(await Promise.all([lookUp(), lookUp()])).toEqual([3, 3])
  // A lookup that began before the wake is not reused after it.
  const before = lookUp('c')
  hub.wakeReaders()
  expect(await Promise.all([before, lookUp('c')])).toEqual([4, 5])
  now += 999
  expect(await lookUp('c')).toBe(5)
  now += 1
  expect(await lookUp('c')).toBe(6)
})
