import { expect, it } from 'vitest'
import { AnonymousBudget, type Holder } from './response-budget.ts'

it('drops the holders that have released nothing for the longest time, until the others fit', () => {
  const budget = new AnonymousBudget(10)
  const dropped: string[] = []
  const hold = (name: string, bytes: number): Holder => {
    const holder = {
      drop() {
        dropped.push(name)
        budget.release(holder, bytes)
      },
    }
    budget.hold(holder, bytes)
    return holder
  }
  const reading = hold('reading', 4)
  hold('stalled', 3)
  hold('other', 3)
  budget.release(reading, 1)
  budget.hold(reading, 1)
  expect(dropped).toEqual([])
  hold('next', 4)
  expect(dropped).toEqual(['stalled', 'other'])
  expect(budget.held).toBe(8)
})

it('lets a single response exceed the limit', () => {
  const budget = new AnonymousBudget(10)
  const holder = { drop: () => expect.unreachable() }
  budget.hold(holder, 20)
  budget.release(holder, 20)
  expect(budget.held).toBe(0)
})
