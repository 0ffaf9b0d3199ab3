import { expect, test } from 'vitest'
import { testCaller } from '../storage/test-support/caller.testing.ts'
import { WorkQueue } from './work-queue.ts'

const names = { work: 'queries', busy: 'Too many queries are running.', retryAfter: 1 }
const limits = { running: 2, ofCaller: 1, waiting: 4, wait: 60_000 }
const caller = (id: string) => testCaller(undefined, id)

test('one caller has its share of those that run, and half of the places to wait', async () => {
  const queue = new WorkQueue(limits, names)
  expect(queue.enter(caller('a'))).toBeUndefined()
  const waiting = [queue.enter(caller('a')), queue.enter(caller('a'))]
  expect(() => queue.enter(caller('a'))).toThrow(
    expect.objectContaining({
      code: 'busy',
      message: '2 of your queries wait already. Try again.',
      headers: { 'Retry-After': '1' },
    }),
  )
  expect(queue.enter(caller('b'))).toBeUndefined()
  const others = [queue.enter(caller('c')), queue.enter(caller('d'))]
  expect(() => queue.enter(caller('e'))).toThrow(
    expect.objectContaining({ code: 'busy', message: names.busy }),
  )
  expect([queue.running, queue.waiting]).toEqual([2, 4])
  for (const id of ['a', 'b', 'c', 'd', 'a', 'a']) queue.leave(caller(id))
  await Promise.all([...waiting, ...others])
  expect([queue.running, queue.waiting]).toEqual([0, 0])
})

test('a request that waits too long, or whose client disconnects, is rejected', async () => {
  const queue = new WorkQueue({ ...limits, running: 1, wait: 1 }, names)
  const client = new AbortController()
  queue.enter(caller('a'))
  await expect(queue.enter(caller('b'))).rejects.toMatchObject({ code: 'busy' })
  const leaving = queue.enter(testCaller(client.signal, 'b'))
  client.abort()
  await expect(leaving).rejects.toMatchObject({ code: 'busy' })
  expect(queue.waiting).toBe(0)
})

test('a request that waits for its caller’s own is rejected with the share of one caller', async () => {
  const queue = new WorkQueue({ ...limits, wait: 1 }, names)
  queue.enter(caller('a'))
  await expect(queue.enter(caller('a'))).rejects.toMatchObject({
    message: 'At most 1 of your queries can run at once. Try again.',
  })
  queue.enter(caller('b'))
  await expect(queue.enter(caller('c'))).rejects.toMatchObject({ message: names.busy })
})
