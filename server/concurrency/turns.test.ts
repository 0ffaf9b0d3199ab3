import { setImmediate as nextImmediate } from 'node:timers/promises'
import { afterEach, expect, test, vi } from 'vitest'
import { createTurns } from './turns.ts'

afterEach(() => void vi.restoreAllMocks())

/** Returns a function that returns the number of turns of the event loop so far. */
function countTurns(signal: AbortSignal): () => number {
  let passed = 0
  void (async () => {
    for (; !signal.aborted; passed++) await nextImmediate()
  })()
  return () => passed
}

test('concurrent calls each wait for a turn', async () => {
  const ended = new AbortController()
  const passed = countTurns(ended.signal)
  const nextTurn = createTurns()
  const turns = new Set<number>()
  await Promise.all([1, 2, 3].map(() => nextTurn().then(() => turns.add(passed()))))
  ended.abort()
  expect(turns.size).toBe(3)
})

test.each([
  [5, 1],
  [35, 3],
  [10_000, 20],
])('after work of %i ms, at least %i turns pass before other work', async (duration, turns) => {
  let time = 0
  vi.spyOn(performance, 'now').mockImplementation(() => time)
  const ended = new AbortController()
  const passed = countTurns(ended.signal)
  const nextTurn = createTurns()
  await nextTurn()
  time += duration
  const begun = passed()
  await nextTurn()
  ended.abort()
  expect(passed() - begun).toBeGreaterThanOrEqual(turns)
  expect(passed() - begun).toBeLessThanOrEqual(turns + 2)
})
