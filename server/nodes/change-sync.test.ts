import { expect, onTestFinished, test, vi } from 'vitest'
import type { NotificationTopic } from '../storage/engine.ts'
import { createChangeSync, createCoalescedSync } from './change-sync.ts'

test('no notification of the store is applied before the start', async () => {
  const subscribers = new Set<(topic: NotificationTopic) => void>()
  const notify = (topic: NotificationTopic) => {
    for (const callback of subscribers) callback(topic)
  }
  const sync = vi.fn(async () => 1)
  const onAccess = vi.fn()
  const changes = createChangeSync({
    store: {
      changedOutside: () => false,
      onNotification(callback) {
        subscribers.add(callback)
        return () => subscribers.delete(callback)
      },
    },
    sync,
    onAccess,
    onError() {},
  })
  onTestFinished(() => changes[Symbol.asyncDispose]())
  notify('changes')
  notify('access')
  expect([sync, onAccess].map(({ mock }) => mock.calls.length)).toEqual([0, 0])
  changes.start()
  notify('changes')
  notify('access')
  expect([sync, onAccess].map(({ mock }) => mock.calls.length)).toEqual([1, 1])
  await changes[Symbol.asyncDispose]()
  notify('changes')
  expect(sync).toHaveBeenCalledTimes(1)
})

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
