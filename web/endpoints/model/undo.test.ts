import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { MIN_AFTER_PAUSE_MS, UNDO_MS } from '../../shared/ui/overlay/undo-countdown.ts'
import { createUndoStore } from './undo.ts'

const removed = (port: number, before: string[] = []) => ({
  address: `tcp://127.0.0.1:${port}`,
  before,
  after: null,
})

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

test('an undo is offered for ten seconds', () => {
  const undo = createUndoStore()
  const told = vi.fn()
  undo.subscribe(told)
  undo.offer([removed(8530, ['blog'])])
  vi.advanceTimersByTime(UNDO_MS - 1)
  expect(undo.current()).toEqual({ stage: 'offered', changes: [removed(8530, ['blog'])] })
  vi.advanceTimersByTime(1)
  expect(undo.current()).toBeUndefined()
  expect(told).toHaveBeenCalledTimes(2)
  expect(undo.begin()).toBeUndefined()
})

test('a pause stops the countdown, and a minimum remains after it', () => {
  const undo = createUndoStore()
  undo.offer([removed(8530)])
  vi.advanceTimersByTime(UNDO_MS - 10)
  undo.pause()
  vi.advanceTimersByTime(60_000)
  expect(undo.current()).toBeDefined()
  undo.resume()
  vi.advanceTimersByTime(MIN_AFTER_PAUSE_MS - 1)
  expect(undo.current()).toBeDefined()
  vi.advanceTimersByTime(1)
  expect(undo.current()).toBeUndefined()
})

test('an early pause keeps the remaining time', () => {
  const undo = createUndoStore()
  undo.offer([removed(8530)])
  vi.advanceTimersByTime(1_000)
  undo.pause()
  undo.pause()
  undo.resume()
  undo.resume()
  vi.advanceTimersByTime(UNDO_MS - 1_001)
  expect(undo.current()).toBeDefined()
  vi.advanceTimersByTime(1)
  expect(undo.current()).toBeUndefined()
})

test('a later removal replaces an earlier one and restarts the countdown', () => {
  const undo = createUndoStore()
  undo.offer([removed(8530)])
  vi.advanceTimersByTime(UNDO_MS - 1)
  undo.offer([removed(8531), removed(8532)])
  vi.advanceTimersByTime(UNDO_MS - 1)
  expect(undo.begin()).toEqual([removed(8531), removed(8532)])
  // The offer does not expire while the undo runs.
  vi.advanceTimersByTime(UNDO_MS)
  expect(undo.current()?.stage).toBe('undoing')
  undo.end([])
  expect(undo.current()).toBeUndefined()
})

test('failed changes stay until dismissed and can be retried alone', () => {
  const undo = createUndoStore()
  undo.offer([removed(8530), removed(8531)])
  undo.begin()
  undo.end([{ change: removed(8531), reason: 'Port 8531 is taken.' }])
  vi.advanceTimersByTime(10 * UNDO_MS)
  expect(undo.current()?.stage).toBe('failed')
  expect(undo.begin()).toEqual([removed(8531)])
  undo.end([])
  expect(undo.current()).toBeUndefined()
})

test('an offer made during an undo is not replaced by its result', () => {
  const undo = createUndoStore()
  undo.offer([removed(8530)])
  undo.begin()
  undo.offer([removed(8531)])
  undo.end([])
  expect(undo.current()).toEqual({ stage: 'offered', changes: [removed(8531)] })
})

test('an empty change is not offered', () => {
  const undo = createUndoStore()
  undo.offer([])
  expect(undo.current()).toBeUndefined()
})
