import { expect, test } from 'vitest'
import { assignSlots, type RowSlots } from './assign-slots.ts'

const given = (...ids: string[]): RowSlots => new Map(ids.map((id, at) => [id, at]))
const slotsOf = (slots: RowSlots) => Object.fromEntries(slots)

test('rows keep their slots as long as they are there', () => {
  expect(slotsOf(assignSlots(given('a', 'b', 'c'), ['b', 'c', 'd'], []))).toEqual({
    b: 1,
    c: 2,
    d: 3,
  })
})

test('where most rows are others, the slots are taken over in order, so that none moves', () => {
  expect(slotsOf(assignSlots(given('a', 'b', 'c', 'd'), ['x', 'c', 'y', 'z', 'w'], []))).toEqual({
    x: 0,
    c: 1,
    y: 2,
    z: 3,
    w: 4,
  })
})

test('nobody takes over the slot of a row that may have the focus', () => {
  const slots = assignSlots(given('a', 'b', 'c'), ['x', 'y', 'z'], ['b', undefined])
  expect(slotsOf(slots)).toEqual({ x: 0, y: 2, z: 3 })
})

test('no two rows ever share one', () => {
  let slots: RowSlots = new Map()
  const views = ['abcdef', 'defghi', 'uvwxyz', 'az', '', 'abcdefghij', 'jihgfedcba']
  for (const view of views) {
    slots = assignSlots(slots, [...view], ['d'])
    expect([...slots.keys()].join('')).toBe(view)
    expect(new Set(slots.values()).size).toBe(view.length)
  }
})
