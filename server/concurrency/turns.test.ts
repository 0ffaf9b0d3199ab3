import { afterEach, expect, test, vi } from 'vitest'
import { countTurns } from '../test-support/count-turns.testing.ts'
import { createTimeSlice, nextTurn, TIME_SLICE } from './turns.ts'

afterEach(() => void vi.restoreAllMocks())

test('concurrent calls each wait for a turn', async () => {
  const turns = await countTurns(() => Promise.all([1, 2, 3].map(nextTurn)))
  expect(turns).toBeGreaterThanOrEqual(3)
})

test.each([
  [5, 1],
  [35, 3],
  [10_000, 20],
])('after work of %i ms, at least %i turns pass before other work', async (duration, least) => {
  let time = 0
  vi.spyOn(performance, 'now').mockImplementation(() => time)
  await nextTurn()
  time += duration
  const turns = await countTurns(nextTurn)
  expect(turns).toBeGreaterThanOrEqual(least)
  expect(turns).toBeLessThanOrEqual(least + 2)
})

test('work yields once it has taken its slice', async () => {
  let time = 0
  vi.spyOn(performance, 'now').mockImplementation(() => time)
  const slice = createTimeSlice()
  time += TIME_SLICE - 1
  expect(slice()).toBeUndefined()
  time += 1
  await slice()
  expect(slice()).toBeUndefined()
})
