import { expect, test } from 'vitest'
import { RoundTripPace } from './pace.ts'

const NEARBY = { inFlight: 4, spacing: 2 }

/** Returns the pace after batches of these durations. */
function after(...durations: readonly number[]) {
  const pace = new RoundTripPace()
  for (const duration of durations) pace.record(duration)
  return { inFlight: pace.inFlight, spacing: pace.spacing }
}

const many = (duration: number) => Array.from({ length: 40 }, () => duration)

test('a nearby database has few batches in flight, also if most of them wait', () => {
  expect(after()).toEqual(NEARBY)
  expect(after(...many(0.3))).toEqual(NEARBY)
  expect(after(...many(0.3), 20, 30, 40)).toEqual(NEARBY)
})

test('the batches to a remote database are spread over its round trip', () => {
  expect(after(...many(5), 30)).toEqual({ inFlight: 8, spacing: 1 })
  expect(after(...many(40), 100)).toEqual({ inFlight: 8, spacing: 5 })
})

test('a changed distance is noticed', () => {
  expect(after(...many(0.3), ...many(24))).toEqual({ inFlight: 8, spacing: 3 })
  expect(after(...many(24), 0.3)).toEqual(NEARBY)
})
