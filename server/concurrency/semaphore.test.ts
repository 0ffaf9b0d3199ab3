import { expect, test } from 'vitest'
import { Semaphore } from './semaphore.ts'

/** Lets requests enter, and records their order. */
function enterings(semaphore: Semaphore) {
  const entered: string[] = []
  const enter = (request: string, signal?: AbortSignal) => {
    const entering = semaphore.enter(signal && (() => signal))
    if (entering === undefined) entered.push(request)
    return entering?.then(() => void entered.push(request))
  }
  const leave = async () => {
    semaphore.leave()
    await new Promise(setImmediate)
  }
  return { entered, enter, leave }
}

const limits = { waiting: 10, wait: 60_000, busy: () => new Error('busy') }

test('requests enter in order of arrival, and free all slots', async () => {
  const semaphore = new Semaphore(2)
  const { entered, enter, leave } = enterings(semaphore)
  const requests = ['a', 'b', 'c', 'd']
  for (const request of requests) void enter(request)
  expect([semaphore.held, semaphore.waiting]).toEqual([2, 2])
  for (const _ of requests) await leave()
  expect(entered).toEqual(requests)
  expect([semaphore.held, semaphore.waiting]).toEqual([0, 0])
})

test('limits how many wait, and for how long', async () => {
  const { enter } = enterings(new Semaphore(1, { ...limits, waiting: 1, wait: 1 }))
  void enter('a')
  const waiting = enter('b')
  expect(() => enter('c')).toThrow('busy')
  await expect(waiting).rejects.toThrow('busy')
})

test('an aborted request leaves the queue', async () => {
  for (const semaphore of [new Semaphore(1), new Semaphore(1, limits)]) {
    const { entered, enter, leave } = enterings(semaphore)
    const client = new AbortController()
    void enter('a')
    const waiting = enter('b', client.signal)
    void enter('c')
    client.abort(new Error('busy'))
    await expect(waiting).rejects.toThrow('busy')
    await expect(enter('d', AbortSignal.abort(new Error('busy')))).rejects.toThrow('busy')
    expect(semaphore.waiting).toBe(1)
    await leave()
    expect(entered).toEqual(['a', 'c'])
  }
})
