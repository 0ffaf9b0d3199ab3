import { setImmediate as nextImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createTurns } from './turns.ts'

test('concurrent calls each wait for a turn', async () => {
  const nextTurn = createTurns()
  let passed = 0
  let isDone = false
  const counting = (async () => {
    for (; !isDone; passed++) await nextImmediate()
  })()
  await Promise.all([nextTurn(), nextTurn(), nextTurn()])
  isDone = true
  await counting
  expect(passed).toBeGreaterThanOrEqual(3)
  expect(passed).toBeLessThanOrEqual(4)
})
