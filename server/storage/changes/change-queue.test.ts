import { expect, test } from 'vitest'
import { ChangeQueue, MAX_WAITING_CHANGES } from './change-queue.ts'

/** Returns a change that the test ends. */
function held() {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  return { work: () => promise, end: resolve, fail: () => reject(new Error('failed')) }
}

test('changes run one at a time, in order, also after a failed one', async () => {
  const queue = new ChangeQueue()
  const first = held()
  const ran: string[] = []
  const failing = queue.run(first.work)
  const others = ['a', 'b', 'c'].map((name) =>
    queue.run(async () => {
      ran.push(`${name} begins`)
      await null
      ran.push(`${name} ends`)
    }),
  )
  await Promise.resolve()
  expect(ran).toEqual([])
  first.fail()
  await expect(failing).rejects.toThrow('failed')
  await Promise.all(others)
  expect(ran).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends'])
})

test('a change that has waited too long is rejected, and the next one runs', async () => {
  const queue = new ChangeQueue(20)
  const first = held()
  const running = queue.run(first.work)
  await expect(queue.run(async () => {})).rejects.toMatchObject({ code: 'unavailable' })
  const next = queue.run(async () => 'done')
  first.end()
  await running
  expect(await next).toBe('done')
})

test('the number of waiting changes is limited', async () => {
  const queue = new ChangeQueue()
  const first = held()
  const all = [first.work, ...Array(MAX_WAITING_CHANGES).fill(async () => {})].map((work) =>
    queue.run(work),
  )
  await expect(queue.run(async () => {})).rejects.toMatchObject({ code: 'unavailable' })
  first.end()
  await Promise.all(all)
})

test('closing rejects waiting changes and lets the running one finish', async () => {
  const queue = new ChangeQueue()
  const first = held()
  const running = queue.run(first.work)
  const waiting = queue.run(async () => {})
  queue.close()
  await expect(waiting).rejects.toThrow('The database is closed.')
  await expect(queue.run(async () => {})).rejects.toThrow('The database is closed.')
  first.end()
  await running
})
