import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { AFTER_HOLD_MS, createUndoStore, UNDO_MS } from './undo.ts'

const record = (port: number, databases: string[] = []) => ({
  endpoint: `tcp://127.0.0.1:${port}`,
  databases,
})

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

test('an undo is offered for ten seconds and then gone', () => {
  const undo = createUndoStore()
  const told = vi.fn()
  undo.subscribe(told)
  undo.offer([record(8530, ['blog'])])
  vi.advanceTimersByTime(UNDO_MS - 1)
  expect(undo.current()).toEqual({ stage: 'offered', removed: [record(8530, ['blog'])] })
  vi.advanceTimersByTime(1)
  expect(undo.current()).toBeUndefined()
  expect(told).toHaveBeenCalledTimes(2)
  expect(undo.begin()).toBeUndefined()
})

test('held, its time stands still; let go, a moment is left at least', () => {
  const undo = createUndoStore()
  undo.offer([record(8530)])
  vi.advanceTimersByTime(UNDO_MS - 10)
  undo.hold()
  vi.advanceTimersByTime(60_000)
  expect(undo.current()).toBeDefined()
  undo.release()
  vi.advanceTimersByTime(AFTER_HOLD_MS - 1)
  expect(undo.current()).toBeDefined()
  vi.advanceTimersByTime(1)
  expect(undo.current()).toBeUndefined()
})

test('held early, it keeps what was left of its time', () => {
  const undo = createUndoStore()
  undo.offer([record(8530)])
  vi.advanceTimersByTime(1_000)
  undo.hold()
  undo.hold()
  undo.release()
  undo.release()
  vi.advanceTimersByTime(UNDO_MS - 1_001)
  expect(undo.current()).toBeDefined()
  vi.advanceTimersByTime(1)
  expect(undo.current()).toBeUndefined()
})

test('a later removal takes the place of an earlier one, with a time of its own', () => {
  const undo = createUndoStore()
  undo.offer([record(8530)])
  vi.advanceTimersByTime(UNDO_MS - 1)
  undo.offer([record(8531), record(8532)])
  vi.advanceTimersByTime(UNDO_MS - 1)
  expect(undo.begin()).toEqual([record(8531), record(8532)])
  // Being restored, it does not run out.
  vi.advanceTimersByTime(UNDO_MS)
  expect(undo.current()?.stage).toBe('restoring')
  undo.end([])
  expect(undo.current()).toBeUndefined()
})

test('what could not be brought back stays until it is closed, and can be tried again alone', () => {
  const undo = createUndoStore()
  undo.offer([record(8530), record(8531)])
  undo.begin()
  undo.end([{ record: record(8531), reason: 'Port 8531 is taken.' }])
  vi.advanceTimersByTime(10 * UNDO_MS)
  expect(undo.current()?.stage).toBe('failed')
  expect(undo.begin()).toEqual([record(8531)])
  undo.end([])
  expect(undo.current()).toBeUndefined()
})

test('an offer made while an earlier one is restored is not taken for its end', () => {
  const undo = createUndoStore()
  undo.offer([record(8530)])
  undo.begin()
  undo.offer([record(8531)])
  undo.end([])
  expect(undo.current()).toEqual({ stage: 'offered', removed: [record(8531)] })
})

test('nothing removed is nothing offered', () => {
  const undo = createUndoStore()
  undo.offer([])
  expect(undo.current()).toBeUndefined()
})
