import { expect, test } from 'vitest'
import { Semaphore } from './semaphore.ts'

const forever = () => new AbortController().signal

/** Lets requests of callers enter, and records their order. */
function enterings(semaphore: Semaphore) {
  const entered: string[] = []
  const enter = (request: string, signal = forever()) => {
    // The name of a request begins with that of its caller.
    const entering = semaphore.enter(() => signal, request[0])
    if (entering === undefined) entered.push(request)
    return entering?.then(() => void entered.push(request))
  }
  const leave = async (caller: string) => {
    semaphore.leave(caller)
    await new Promise(setImmediate)
  }
  return { entered, enter, leave }
}

test('callers enter in turn, and the requests of each in order of arrival', async () => {
  const { entered, enter, leave } = enterings(new Semaphore(1))
  for (const request of ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1']) void enter(request)
  for (let at = 0; at < 6; at++) await leave(entered[at]?.[0] ?? '')
  expect(entered).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4'])
})

test('a request that does not wait enters only if a slot is free for its caller', () => {
  const semaphore = new Semaphore(3, 2)
  const tries = ['a', 'a', 'a', 'b', 'c'].map((caller) => semaphore.tryEnter(caller))
  expect(tries).toEqual([true, true, false, true, false])
  expect([semaphore.held, semaphore.waiting]).toEqual([3, 0])
  semaphore.leave('a')
  expect(semaphore.tryEnter('a')).toBe(true)
})

test('the caller that holds the fewest slots enters first', async () => {
  const { entered, enter, leave } = enterings(new Semaphore(3))
  for (const request of ['a1', 'a2', 'b1', 'a3', 'b2', 'c1']) void enter(request)
  await leave('a')
  expect(entered.at(-1)).toBe('c1')
})

test('requests of one caller enter in order of arrival, and free all slots', async () => {
  const semaphore = new Semaphore(2)
  const { entered, enter, leave } = enterings(semaphore)
  const requests = ['a1', 'a2', 'a3', 'a4']
  for (const request of requests) void enter(request)
  expect([semaphore.held, semaphore.waiting]).toEqual([2, 2])
  for (const _ of requests) await leave('a')
  expect(entered).toEqual(requests)
  expect([semaphore.held, semaphore.waiting]).toEqual([0, 0])
})

test('a caller holds at most its share, and others do not wait for it', async () => {
  const semaphore = new Semaphore(3, 2)
  const { entered, enter, leave } = enterings(semaphore)
  for (const request of ['a1', 'a2', 'a3']) void enter(request)
  expect([semaphore.held, semaphore.isAtShare('a'), semaphore.isAtShare('b')]).toEqual([
    2,
    true,
    false,
  ])
  expect(enter('b1')).toBeUndefined()
  await leave('b')
  expect(entered).toEqual(['a1', 'a2', 'b1'])
  await leave('a')
  expect(entered.at(-1)).toBe('a3')
})

test('an aborted request leaves the queue', async () => {
  const semaphore = new Semaphore(1)
  const { entered, enter, leave } = enterings(semaphore)
  const client = new AbortController()
  void enter('a1')
  const waiting = enter('a2', client.signal)
  void enter('b1')
  expect(semaphore.waitingOf('a')).toBe(1)
  client.abort(new Error('disconnected'))
  await expect(waiting).rejects.toThrow('disconnected')
  await expect(enter('c1', AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone')
  expect([semaphore.waiting, semaphore.waitingOf('a')]).toEqual([1, 0])
  await leave('a')
  expect(entered).toEqual(['a1', 'b1'])
})
