import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { ListenerState } from '../../../contract/endpoints/listener.ts'
import type { Listener } from '../../listeners/listener.ts'
import { createRetrySchedule, type RetrySchedule } from './reconciler.ts'

let attempts: number
let schedule: RetrySchedule
let listener: { state: ListenerState; nextTry: number | undefined }

beforeEach(() => {
  vi.useFakeTimers({ now: 0 })
  // No jitter.
  vi.spyOn(Math, 'random').mockReturnValue(0.5)
  attempts = 0
  listener = { state: 'opening', nextTry: undefined }
  schedule = createRetrySchedule(() => {
    attempts++
    enter(listener.state)
  })
})
afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

function enter(state: ListenerState): void {
  listener.state = state
  schedule.update(listener as Listener)
}

/** Returns the times of the attempts within a duration, s. */
function attemptsWithin(seconds: number): number[] {
  const times: number[] = []
  const start = Date.now()
  while (Date.now() - start < seconds * 1_000) {
    const before = attempts
    vi.advanceTimersByTime(500)
    if (attempts > before) times.push((Date.now() - start) / 1_000)
  }
  return times
}

test('the delays of a failed listener double up to one minute', () => {
  enter('failed')
  expect(listener.nextTry).toBe(1_000)
  expect(attemptsWithin(250)).toEqual([1, 3, 7, 15, 31, 63, 123, 183, 243])
})

test('a listener that is elsewhere is retried every 5 s, without a reported time', () => {
  enter('elsewhere')
  expect(listener.nextTry).toBe(undefined)
  expect(attemptsWithin(16)).toEqual([5, 10, 15])
})

test('a listener that has opened is not retried, and fails with the first delay again', () => {
  enter('failed')
  expect(attemptsWithin(4)).toEqual([1, 3])
  enter('listening')
  expect(attemptsWithin(100)).toEqual([])
  enter('failed')
  expect(attemptsWithin(4)).toEqual([1, 3])
})

test.each<ListenerState>(['draining', 'listening'])('a %s listener is not retried', (state) => {
  enter('failed')
  enter(state)
  expect(attemptsWithin(100)).toEqual([])
})

test('no listener is retried after a stop', () => {
  enter('failed')
  schedule.stop()
  enter('failed')
  expect(attemptsWithin(100)).toEqual([])
})
