import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { openPageConnection } from './page-connection.ts'

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

const workers: FakeWorker[] = []

class FakeWorker {
  onerror: ((event: Event) => void) | null = null
  readonly port = { postMessage: vi.fn(), close: vi.fn(), onmessage: null }

  constructor() {
    workers.push(this)
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
  workers.length = 0
  page.visibilityState = 'visible'
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

const open = () =>
  openPageConnection({
    url: '/events',
    after: undefined,
    onEvent: () => {},
    checkSession: async () => true,
  })

test('a page opens its own stream if the worker fails', () => {
  vi.stubGlobal('SharedWorker', FakeWorker)
  const connection = open()
  expect(streams.size).toBe(0)
  workers[0]?.onerror?.(new Event('error'))
  expect(streams.size).toBe(1)
  connection.close()
  expect(streams.size).toBe(0)
})

test('an error of the worker after the end of the connection opens no stream', () => {
  vi.stubGlobal('SharedWorker', FakeWorker)
  open().close()
  workers[0]?.onerror?.(new Event('error'))
  expect(streams.size).toBe(0)
})

test('without shared workers, a page has a stream only while it is visible', async () => {
  page.visibilityState = 'hidden'
  const connection = open()
  expect(streams.size).toBe(0)
  setVisibility('visible')
  await vi.advanceTimersByTimeAsync(0)
  expect(streams.size).toBe(1)
  setVisibility('hidden')
  expect(streams.size).toBe(0)
  setVisibility('visible')
  await vi.advanceTimersByTimeAsync(0)
  expect(streams.size).toBe(1)
  connection.close()
  setVisibility('hidden')
  setVisibility('visible')
  await vi.advanceTimersByTimeAsync(0)
  expect(streams.size).toBe(0)
})
