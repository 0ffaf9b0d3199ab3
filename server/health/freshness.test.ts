import { afterEach, beforeEach, expect, test } from 'vitest'
import { Failure } from '../failure.ts'
import { createFreshness, type Freshness, MAX_AGE, ROUND_TRIPS, type Stale } from './freshness.ts'

/** The store and the clocks of the node under test. */
let store: { revision: number; away: boolean; roundTrip: number; answer?: Promise<unknown> }
let time: { steady: number; wall: number }
let requested: number
let synced: number[]
let reported: (Stale | undefined)[]
let freshness: Freshness

beforeEach(() => {
  store = { revision: 1, away: false, roundTrip: 0 }
  time = { steady: 0, wall: 0 }
  requested = 0
  synced = []
  reported = []
  freshness = createFreshness({
    async readRevision() {
      requested++
      await store.answer
      pass(store.roundTrip)
      if (store.away)
        throw new Failure('unavailable', 'The database is unavailable.', { cause: 'a cause' })
      return store.revision
    },
    async syncTo(revision) {
      synced.push(revision)
    },
    changed: (stale) => reported.push(stale),
    clock: () => ({ ...time }),
  })
})
afterEach(() => freshness.stop())

function pass(ms: number): void {
  time.steady += ms
  time.wall += ms
}

const refused = { code: 'unavailable', message: 'The database is unavailable.' }

test('the state is fresh until the limit has passed since the last query', async () => {
  expect(freshness.isFresh()).toBe(false)
  await freshness.start()
  expect(synced).toEqual([1])
  pass(MAX_AGE - 1)
  expect([freshness.isFresh(), freshness.require()]).toEqual([true, undefined])
  pass(1)
  expect(freshness.isFresh()).toBe(false)
})

test('a start without a response fails', async () => {
  store.away = true
  await expect(freshness.start()).rejects.toMatchObject(refused)
})

test('a request after a suspension waits until the state is confirmed again', async () => {
  await freshness.start()
  store.revision = 2
  pass(60_000)
  await freshness.require()
  expect([freshness.isFresh(), synced.at(-1)]).toEqual([true, 2])
})

test('a response from before a suspension does not confirm the state', async () => {
  await freshness.start()
  const { promise, resolve } = Promise.withResolvers<void>()
  store.answer = promise
  const before = requested
  pass(MAX_AGE)
  const waiting = freshness.require()
  pass(60_000)
  resolve()
  await waiting
  expect(requested).toBe(before + 2)
  expect(freshness.isFresh()).toBe(true)
})

test('sleep time counts if the monotonic clock stops', async () => {
  await freshness.start()
  time.wall += MAX_AGE
  expect(freshness.isFresh()).toBe(false)
  await freshness.require()
  expect(freshness.isFresh()).toBe(true)
})

test('requests are rejected immediately while the database does not respond, and served when it does', async () => {
  await freshness.start()
  store.away = true
  pass(MAX_AGE)
  await expect(freshness.require()).rejects.toMatchObject(refused)
  await expect.poll(() => reported).toEqual([{ reason: expect.any(Failure) }])
  const failed = freshness.require()
  store.away = false
  // `require` fails at once instead of waiting for the next attempt. The cause is only logged once.
  await expect(failed).rejects.toMatchObject(refused)
  await expect(failed).rejects.not.toHaveProperty('cause')
  await expect.poll(() => reported.at(-1)).toBeUndefined()
  expect([reported.length, freshness.isFresh()]).toEqual([2, true])
})

test('the limit includes the shortest recent round trip to the database', async () => {
  store.roundTrip = 300
  await freshness.start()
  pass(MAX_AGE + (ROUND_TRIPS - 1) * 300 - 1)
  expect(freshness.isFresh()).toBe(true)
  pass(1)
  expect(freshness.isFresh()).toBe(false)
  // A longer round trip counts as a second.
  store.roundTrip = 5_000
  for (let n = 0; n < 10; n++) await freshness.require()?.catch(() => {})
  pass(MAX_AGE + ROUND_TRIPS * 1_000 - 5_000)
  expect(freshness.isFresh()).toBe(false)
})
