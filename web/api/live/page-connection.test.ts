import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { HIDDEN_MS, openPageConnection } from './page-connection.ts'

/** The open streams. */
const streams = new Set<FakeSource>()

class FakeSource extends EventTarget {
  onmessage?: (message: MessageEvent) => void
  readonly url: string

  constructor(url: string) {
    super()
    this.url = url
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

test('everything that a page follows is in one stream, which is reopened when that changes', async () => {
  const hints: string[] = []
  const seen: string[] = []
  const connection = openPageConnection('/events', {
    after: 'a-1',
    onEvent: ({ type }) => hints.push(type),
    mayConnect: async () => true,
  })
  const urls = () => [...streams].map(({ url }) => url)
  const send = (data: object) => {
    const message = new MessageEvent('message', { data: JSON.stringify(data), lastEventId: 'a-2' })
    for (const { onmessage } of streams) onmessage?.(message)
  }
  const settled = () => vi.advanceTimersByTimeAsync(0)
  const stop = connection.follow('feed=blog/a', ({ type }) => seen.push(type))
  const others = [1, 2].map(() => connection.follow('requests=*', () => {}))
  await settled()
  expect(urls()).toEqual(['/events?after=a-1&feed=blog/a&requests=*'])
  for (const type of ['audit', 'feed', 'requests']) send({ type })
  expect([hints, seen]).toEqual([['audit'], ['feed', 'requests']])
  const [before] = streams
  // The page follows the same again before it is reopened, and one of two components ends.
  stop()
  const again = connection.follow('feed=blog/a', () => {})
  others[0]?.()
  await settled()
  expect([...streams]).toEqual([before])
  again()
  await settled()
  expect(urls()).toEqual(['/events?after=a-2&requests=*'])
  connection.close()
})
