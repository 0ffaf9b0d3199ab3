import { expect, onTestFinished, test, vi } from 'vitest'
import type { NotificationTopic } from '../storage/engine.ts'
import { createChangeSync } from './change-sync.ts'

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
