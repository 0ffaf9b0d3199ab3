import { setImmediate as nextImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createTurns } from './turns.ts'

test.each([1, 2])('concurrent calls each wait for %i turns', async (turns) => {
  const nextTurn = createTurns(turns)
  let passed = 0
  let isDone = false
  const counting = (async () => {
    for (; !isDone; passed++) await nextImmediate()
  })()
  await Promise.all([nextTurn(), nextTurn(), nextTurn()])
  isDone = true
  await counting
  expect(passed).toBeGreaterThanOrEqual(3 * turns)
  expect(passed).toBeLessThanOrEqual(3 * turns + 1)
})
