import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { HIDDEN_MS, openPageConnection } from './page-connection.ts'

/** The open streams. */
const streams = new Set<FakeSource>()

class FakeSource extends EventTarget {
  constructor() {
    super()
    streams.add(this)
  }

  close() {
    streams.delete(this)
  }
}

const page = Object.assign(new EventTarget(), { visibilityState: 'visible' })

const setVisibility = (state: 'visible' | 'hidden') => {
  page.visibilityState = state
  page.dispatchEvent(new Event('visibilitychange'))
}

beforeEach(() => {
  vi.useFakeTimers()
  const window = new EventTarget()
  vi.stubGlobal('EventSource', FakeSource)
  vi.stubGlobal('document', page)
  vi.stubGlobal('addEventListener', window.addEventListener.bind(window))
  vi.stubGlobal('removeEventListener', window.removeEventListener.bind(window))
  streams.clear()
  page.visibilityState = 'visible'
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

const open = () =>
  openPageConnection('/events', {
    after: undefined,
    onEvent: () => {},
    mayConnect: async () => true,
  })

test('a page closes its stream after it has been hidden for a while', async () => {
  const connection = open()
  setVisibility('hidden')
  await vi.advanceTimersByTimeAsync(HIDDEN_MS - 1)
  expect(streams.size).toBe(1)
  setVisibility('visible')
  await vi.advanceTimersByTimeAsync(0)
  setVisibility('hidden')
  await vi.advanceTimersByTimeAsync(HIDDEN_MS)
  expect([streams.size, connection.current()]).toEqual([0, { state: 'paused' }])
  setVisibility('visible')
  await vi.advanceTimersByTimeAsync(0)
  expect([streams.size, connection.current()]).toEqual([1, { state: 'connecting' }])
  connection.close()
  setVisibility('hidden')
  setVisibility('visible')
  await vi.advanceTimersByTimeAsync(0)
  expect(streams.size).toBe(0)
})

test('a page that is opened in the background has no stream until it is visible', () => {
  page.visibilityState = 'hidden'
  const connection = open()
  expect([streams.size, connection.current()]).toEqual([0, { state: 'paused' }])
  setVisibility('visible')
  expect([streams.size, connection.current()]).toEqual([1, { state: 'connecting' }])
  connection.close()
})
