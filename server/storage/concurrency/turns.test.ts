import { setImmediate as nextImmediate } from 'node:timers/promises'
import { afterEach, expect, test, vi } from 'vitest'
import { createSharedTurn, createTurns } from './turns.ts'

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

test('callers share a turn for 5 ms, and the others wait for their own', async () => {
  let time = 0
  vi.spyOn(performance, 'now').mockImplementation(() => time)
  const nextTurn = vi.fn(async () => {})
  const sharedTurn = createSharedTurn(nextTurn)
  expect(sharedTurn()).toBeUndefined()
  time += 4
  expect(sharedTurn()).toBeUndefined()
  time += 1
  expect(sharedTurn()).toBeInstanceOf(Promise)
  expect(nextTurn).toHaveBeenCalledTimes(1)
  await nextImmediate()
  expect(sharedTurn()).toBeUndefined()
})
