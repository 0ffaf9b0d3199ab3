import { expect, onTestFinished, test } from 'vitest'
import { createDeliverer, type DelivererDeps } from './deliverer.ts'

test('a message is sent once if its delivery ends while the due webhooks are read', async () => {
  type Due = Awaited<ReturnType<DelivererDeps['webhooks']['due']>>
  const hook = { id: 'h', attempts: 0, failing_since: null }
  const due = [[hook, [{ collection: 'notes', pending: null }]]] as unknown as Due
  const reads: PromiseWithResolvers<Due>[] = []
  const posts: PromiseWithResolvers<unknown>[] = []
  const begin = <T>(list: PromiseWithResolvers<T>[]) => {
    const begun = Promise.withResolvers<T>()
    list.push(begun)
    return begun.promise
  }
  const deliverer = createDeliverer({
    store: { onFeedChange: () => () => {} },
    webhooks: { hasActive: async () => true, due: () => begin(reads) },
    deliveries: { next: async () => ({}), post: () => begin(posts), record: async () => {} },
    holdsLock: async () => true,
    now: () => 0,
    onDelivered() {},
    onError: (error: unknown) => expect(error).toBeUndefined(),
  } as unknown as DelivererDeps)
  onTestFinished(() => void deliverer[Symbol.asyncDispose]())

  deliverer.wake()
  await expect.poll(() => reads.length).toBe(1)
  reads[0]?.resolve(due)
  await expect.poll(() => posts.length).toBe(1)
  deliverer.wake()
  await expect.poll(() => reads.length).toBe(2)
  posts[0]?.resolve({ outcome: { at: '', status: 200 }, sent: { headers: {} } })
  await new Promise(setImmediate)
  // What was due before the outcome was stored.
  reads[1]?.resolve(due)
  await expect.poll(() => reads.length).toBe(3)
  reads[2]?.resolve([])
  expect(posts).toHaveLength(1)
})
