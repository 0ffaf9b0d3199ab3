import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import {
  closeToast,
  getToast,
  MIN_AFTER_PAUSE_MS,
  pauseToast,
  resumeToast,
  showToast,
  TOAST_MS,
  type ToastOptions,
  undoToast,
} from './toast.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  closeToast()
  vi.useRealTimers()
})

const undoing = () => {
  const { promise, resolve } = Promise.withResolvers<ToastOptions>()
  return { undo: vi.fn(() => promise), end: resolve }
}

test('a toast is shown for ten seconds, and a later one replaces it', () => {
  showToast({ text: 'One added' })
  vi.advanceTimersByTime(TOAST_MS - 1)
  showToast({ text: 'Two added' })
  vi.advanceTimersByTime(TOAST_MS - 1)
  expect(getToast()?.text).toBe('Two added')
  vi.advanceTimersByTime(1)
  expect(getToast()).toBeUndefined()
  resumeToast()
  expect(getToast()).toBeUndefined()
})

test('a pause stops the countdown, and a minimum remains after it', () => {
  showToast({ text: 'One added' })
  vi.advanceTimersByTime(TOAST_MS - 10)
  pauseToast()
  vi.advanceTimersByTime(60_000)
  resumeToast()
  vi.advanceTimersByTime(MIN_AFTER_PAUSE_MS - 1)
  expect(getToast()).toBeDefined()
  vi.advanceTimersByTime(1)
  expect(getToast()).toBeUndefined()
})

test('an early pause keeps the remaining time', () => {
  showToast({ text: 'One added' })
  vi.advanceTimersByTime(1_000)
  pauseToast()
  pauseToast()
  resumeToast()
  resumeToast()
  vi.advanceTimersByTime(TOAST_MS - 1_001)
  expect(getToast()).toBeDefined()
  vi.advanceTimersByTime(1)
  expect(getToast()).toBeUndefined()
})

test('the toast stays while its undo runs once, and then shows the outcome', async () => {
  const { undo, end } = undoing()
  showToast({ text: 'One removed', undo })
  const ended = undoToast()
  void undoToast()
  vi.advanceTimersByTime(2 * TOAST_MS)
  expect(getToast()).toMatchObject({ text: 'One removed', isUndoing: true })
  end({ text: 'One restored' })
  await ended
  expect(undo).toHaveBeenCalledTimes(1)
  expect(getToast()).toMatchObject({ text: 'One restored', isUndoing: false })
})

test('the outcome of an undo replaces a later toast only if it failed', async () => {
  const first = undoing()
  showToast({ text: 'One removed', undo: first.undo })
  const ended = undoToast()
  showToast({ text: 'Two removed' })
  first.end({ text: 'One restored' })
  await ended
  expect(getToast()?.text).toBe('Two removed')

  const second = undoing()
  showToast({ text: 'Three removed', undo: second.undo })
  const failed = undoToast()
  showToast({ text: 'Four removed' })
  second.end({ text: 'Three could not be restored', failures: [{ reason: 'Out of service.' }] })
  await failed
  expect(getToast()?.text).toBe('Three could not be restored')
})

test('failures stay until the toast is closed', () => {
  showToast({ text: 'One could not be deleted', failures: [{ reason: 'Out of service.' }] })
  vi.advanceTimersByTime(10 * TOAST_MS)
  resumeToast()
  vi.advanceTimersByTime(10 * TOAST_MS)
  expect(getToast()).toBeDefined()
  closeToast()
  expect(getToast()).toBeUndefined()
})
