import { expect, it, onTestFinished, vi } from 'vitest'
import { type Holder, ResponseBudget } from './response-budget.ts'

const busy = expect.objectContaining({ code: 'unavailable' })

/** Returns a budget, a function that lets a connection hold bytes, and those that were closed. */
function open(limit: number) {
  const budget = new ResponseBudget(limit)
  const dropped: string[] = []
  const hold = (name: string, bytes: number, isUnread = true) => {
    const holder = {
      held: bytes,
      progressedAt: performance.now(),
      isUnread,
      drop() {
        dropped.push(name)
        release(holder.held)
      },
    }
    function release(read: number) {
      holder.held -= read
      holder.progressedAt = performance.now()
      budget.release(holder, read)
    }
    budget.hold(holder satisfies Holder, bytes)
    return release
  }
  return { budget, dropped, hold }
}

it('closes the connections whose clients have read nothing for the longest time, until the others fit', () => {
  const { budget, dropped, hold } = open(10)
  const read = hold('reading', 4)
  hold('preparing', 1, false)
  hold('stalled', 2)
  hold('other', 3)
  read(1)
  hold('reading again', 1)
  expect(dropped).toEqual([])
  hold('next', 5)
  expect(dropped).toEqual(['stalled', 'other'])
  expect(budget.held).toBe(10)
})

it('lets a single response exceed the limit', () => {
  const { budget, dropped, hold } = open(10)
  hold('single', 20)(20)
  budget.requireAvailable(20)
  expect([dropped, budget.held]).toEqual([[], 0])
})

it('reserves a quarter for the administration', () => {
  const { budget, hold } = open(8)
  hold('data', 5)
  budget.requireAvailable(1)
  expect(() => budget.requireAvailable(2)).toThrow(busy)
  budget.requireAvailable(3, true)
  expect(() => budget.requireAvailable(4, true)).toThrow(busy)
})

it('closes connections of stalled clients to make room for others', () => {
  let now = 0
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now)
  onTestFinished(() => clock.mockRestore())
  const { budget, dropped, hold } = open(8)
  hold('stalled', 3)
  hold('preparing', 1, false)
  now = 4_999
  hold('reading', 2)
  expect(() => budget.requireAvailable(1)).toThrow(busy)
  now = 5_000
  budget.requireAvailable(1)
  expect(dropped).toEqual(['stalled'])
})
