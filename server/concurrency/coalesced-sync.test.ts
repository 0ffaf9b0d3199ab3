import { expect, test } from 'vitest'
import { createCoalescedSync } from './coalesced-sync.ts'

/** Returns a sync that ends when the test says so. */
function createSync() {
  const waiting: { end: () => void; fail: () => void }[] = []
  const sync = () =>
    new Promise<void>((resolve, reject) => {
      waiting.push({ end: resolve, fail: () => reject(new Error('away')) })
    })
  return { waiting, sync }
}

test('calls during a sync share the next one', async () => {
  const { waiting, sync } = createSync()
  const coalesced = createCoalescedSync(sync)
  const first = coalesced.sync()
  const others = [coalesced.sync(), coalesced.sync()]
  expect(waiting).toHaveLength(1)
  waiting[0]?.end()
  await first
  await expect.poll(() => waiting.length).toBe(2)
  waiting[1]?.end()
  await Promise.all(others)
  expect(waiting).toHaveLength(2)
  expect(coalesced.running).toBeUndefined()
})

test('a failed sync is retried by the next call', async () => {
  const { waiting, sync } = createSync()
  const coalesced = createCoalescedSync(sync)
  const first = coalesced.sync()
  const second = coalesced.sync()
  waiting[0]?.fail()
  await expect(first).rejects.toThrow('away')
  expect(coalesced.behind).toBe(true)
  await expect.poll(() => waiting.length).toBe(2)
  waiting[1]?.end()
  await second
  expect(coalesced.behind).toBe(false)
})
