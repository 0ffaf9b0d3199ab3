import { expect, test } from 'vitest'
import { createFollower } from './follower.ts'

/** Returns a sync that ends when the test says so. */
function looks() {
  const waiting: { end: () => void; fail: () => void }[] = []
  const sync = () =>
    new Promise<void>((resolve, reject) => {
      waiting.push({ end: resolve, fail: () => reject(new Error('away')) })
    })
  return { waiting, sync }
}

test('calls during a sync share the next one', async () => {
  const { waiting, sync } = looks()
  const follower = createFollower(sync)
  const first = follower.follow()
  const others = [follower.follow(), follower.follow()]
  expect(waiting).toHaveLength(1)
  waiting[0]?.end()
  await first
  await expect.poll(() => waiting.length).toBe(2)
  waiting[1]?.end()
  await Promise.all(others)
  expect(waiting).toHaveLength(2)
  expect(follower.running).toBeUndefined()
})

test('a failed sync is retried by the next call', async () => {
  const { waiting, sync } = looks()
  const follower = createFollower(sync)
  const first = follower.follow()
  const second = follower.follow()
  waiting[0]?.fail()
  await expect(first).rejects.toThrow('away')
  expect(follower.behind).toBe(true)
  await expect.poll(() => waiting.length).toBe(2)
  waiting[1]?.end()
  await second
  expect(follower.behind).toBe(false)
})
