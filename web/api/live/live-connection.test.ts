import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import {
  CHECK_MS,
  type Connection,
  FIRST_BYTE_MS,
  HEARTBEAT_TIMEOUT_MS,
  openStream,
  RETRY_DELAYS_MS,
} from './live-connection.ts'

/** Maximum time in ms for the console to report that a server hangs (docs/operating.md). */
const REPORTED_WITHIN = 15_000
const BACK_WITHIN = 5_000
/** Interval of the server's heartbeats in ms (server/events/routes.ts). */
const HEARTBEAT = 5_000

/** Streams opened so far, newest last. */
const opened: FakeSource[] = []

class FakeSource extends EventTarget {
  onopen?: () => void
  onerror?: () => void
  onmessage?: (message: MessageEvent) => void
  readonly url: string
  isOpen = true

  constructor(url: string) {
    super()
    this.url = url
    opened.push(this)
  }

  close() {
    this.isOpen = false
  }
}

const last = () => opened.at(-1) as FakeSource
const heartbeat = () => last().dispatchEvent(new MessageEvent('heartbeat', { lastEventId: 'a-1' }))

beforeEach(() => {
  vi.useFakeTimers()
  vi.stubGlobal('EventSource', FakeSource)
  opened.length = 0
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

function watch(mayConnect: (signal: AbortSignal) => Promise<boolean>, after?: string) {
  const states: Connection[] = []
  const events: string[] = []
  const stream = openStream({
    url: (from) => (from === undefined ? '/events' : `/events?after=${from}`),
    after,
    onEvent: ({ type }) => events.push(type),
    onState: (state) => states.push(state),
    mayConnect,
  })
  return { stream, events, state: () => states.at(-1)?.state, states }
}

const hangs = () => new Promise<boolean>(() => {})
const away = () => Promise.reject(new TypeError('Failed to fetch'))

test('a hanging server is reported within the heartbeat timeout', async () => {
  const { state, states } = watch(hangs)
  last().onopen?.()
  await vi.advanceTimersByTimeAsync(HEARTBEAT)
  heartbeat()
  const heard = Date.now()
  await vi.advanceTimersByTimeAsync(HEARTBEAT_TIMEOUT_MS - 1)
  expect(state()).toBe('live')
  await vi.advanceTimersByTimeAsync(1)
  expect(state()).toBe('lost')
  expect(states.at(-1)).toMatchObject({ since: heard })
  expect(HEARTBEAT_TIMEOUT_MS).toBeLessThanOrEqual(REPORTED_WITHIN)
  // One late heartbeat must not count as a failure.
  expect(HEARTBEAT_TIMEOUT_MS).toBeGreaterThan(2 * HEARTBEAT)
  expect(last().isOpen).toBe(false)
})

test('a stream without a first byte is reported in time', async () => {
  const { state } = watch(hangs)
  await vi.advanceTimersByTimeAsync(FIRST_BYTE_MS)
  expect(state()).toBe('lost')
  expect(FIRST_BYTE_MS).toBeLessThanOrEqual(REPORTED_WITHIN)
})

test.each([
  ['rejects connections', away],
  ['hangs', hangs],
])('a server that %s is retried often enough to reconnect in time', async (_, unavailable) => {
  const tries: number[] = []
  let check = unavailable
  const { state } = watch((signal) => {
    tries.push(Date.now())
    expect(signal.aborted).toBe(false)
    return check()
  })
  last().onerror?.()
  expect(state()).toBe('connecting')
  await vi.advanceTimersByTimeAsync(120_000)
  expect(state()).toBe('lost')
  const gaps = tries.slice(1).map((time, at) => time - (tries[at] ?? 0))
  expect(Math.max(...gaps)).toBeLessThanOrEqual(CHECK_MS + RETRY_DELAYS_MS[0])
  // Check the lower bound too: retries against an unavailable server must stay infrequent.
  expect(Math.min(...gaps.slice(4))).toBeGreaterThanOrEqual(2_400)

  check = () => Promise.resolve(true)
  const back = Date.now()
  while (last().isOpen === false) await vi.advanceTimersByTimeAsync(100)
  last().onopen?.()
  expect(state()).toBe('live')
  expect(Date.now() - back).toBeLessThanOrEqual(BACK_WITHIN)
})

test('the first stream resumes after a known event, and later ones reset', async () => {
  const { events } = watch(() => Promise.resolve(true), 'run-7')
  expect(last().url).toBe('/events?after=run-7')
  last().onopen?.()
  last().onmessage?.(
    new MessageEvent('message', { data: '{"type":"audit"}', lastEventId: 'run-8' }),
  )
  expect(events).toEqual(['audit'])
  last().onerror?.()
  await vi.advanceTimersByTimeAsync(RETRY_DELAYS_MS[0])
  expect(last().url).toBe('/events')
  last().onopen?.()
  expect(events).toEqual(['audit', 'reset'])
})

test('a stream that is reopened resumes after its last event, and one that fails resets', async () => {
  const { stream, events, states } = watch(() => Promise.resolve(true), 'run-7')
  stream.reopen()
  expect(last().url).toBe('/events?after=run-7')
  last().onopen?.()
  heartbeat()
  const before = states.length
  stream.reopen()
  expect(opened.map(({ isOpen }) => isOpen)).toEqual([false, false, true])
  expect(last().url).toBe('/events?after=a-1')
  expect(states).toHaveLength(before)
  last().onopen?.()
  expect(events).toEqual([])
  last().onerror?.()
  // The next try has the new parameters anyway.
  stream.reopen()
  expect(opened).toHaveLength(3)
  await vi.advanceTimersByTimeAsync(RETRY_DELAYS_MS[0])
  last().onopen?.()
  expect([last().url, events]).toEqual(['/events', ['reset']])
})

test('a stream without permission stops until it is retried', async () => {
  let signedIn = false
  const { stream } = watch(() => Promise.resolve(signedIn))
  last().onerror?.()
  await vi.advanceTimersByTimeAsync(60_000)
  expect([opened.length, vi.getTimerCount()]).toEqual([1, 0])
  signedIn = true
  stream.tryNow()
  await vi.advanceTimersByTimeAsync(0)
  expect(opened.length).toBe(2)
})
