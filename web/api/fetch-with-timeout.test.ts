import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { NoResponse, readJson } from './client.ts'
import { CHANGE_TIMEOUT_MS, fetchWithTimeout, READ_TIMEOUT_MS } from './fetch-with-timeout.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

/** Never responds; rejects when the request is aborted. */
const hang = (_: unknown, { signal }: RequestInit) =>
  new Promise<Response>((_resolve, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason))
  })

/** Observes a promise without awaiting it. `value` is undefined while the promise is pending. */
function outcomeOf(promise: Promise<unknown>) {
  const outcome: { value?: unknown } = {}
  promise.then(
    (value) => Object.assign(outcome, { value }),
    (error: Error) => Object.assign(outcome, { value: error.message }),
  )
  return outcome
}

test.each([
  ['a read', {}, READ_TIMEOUT_MS, '15 s'],
  ['a change', { method: 'POST', body: '{}' }, CHANGE_TIMEOUT_MS, '30 s'],
  [
    'a large upload',
    { method: 'POST', body: 'x'.repeat(600_000) },
    CHANGE_TIMEOUT_MS + 60_000,
    '90 s',
  ],
])('%s times out when the server hangs', async (_, init, ms, words) => {
  vi.stubGlobal('fetch', hang)
  const outcome = outcomeOf(readJson(fetchWithTimeout('/', init)))
  await vi.advanceTimersByTimeAsync(ms - 1)
  expect(outcome).toEqual({})
  await vi.advanceTimersByTimeAsync(2)
  expect(outcome.value).toBe(
    `Gatehouse did not respond within ${words}. Check the server and the network.`,
  )
})

test('a 204 is returned unchanged, also with the empty body that Chromium adds', async () => {
  const response = new Response('')
  Object.defineProperty(response, 'status', { value: 204 })
  vi.stubGlobal('fetch', async () => response)
  expect(await fetchWithTimeout('/', { method: 'DELETE' })).toBe(response)
  expect(vi.getTimerCount()).toBe(0)
})

test('a slow response succeeds, and a stalled one times out', async () => {
  let body: ReadableStreamDefaultController<Uint8Array> | undefined
  vi.stubGlobal('fetch', async (_: unknown, { signal }: RequestInit) => {
    const stream = new ReadableStream<Uint8Array>({
      start(controller) {
        body = controller
        signal?.addEventListener('abort', () => controller.error(new Error('aborted')))
      },
    })
    return new Response(stream, { status: 200 })
  })
  const response = readJson(fetchWithTimeout('/'))
  const outcome = outcomeOf(response)
  for (let part = 0; part < 5; part++) {
    await vi.advanceTimersByTimeAsync(READ_TIMEOUT_MS - 1_000)
    body?.enqueue(new TextEncoder().encode('['))
  }
  expect(outcome).toEqual({})
  await vi.advanceTimersByTimeAsync(READ_TIMEOUT_MS + 1)
  expect(outcome.value).toContain('did not respond within 15 s')
  await expect(response).rejects.toBeInstanceOf(NoResponse)
})

test('a response in time is returned completely and leaves no timer', async () => {
  vi.stubGlobal('fetch', async () =>
    Response.json({ a: 1 }, { status: 201, headers: { ETag: 'x' } }),
  )
  const response = await fetchWithTimeout('/')
  expect([response.status, response.headers.get('ETag')]).toEqual([201, 'x'])
  expect(await response.json()).toEqual({ a: 1 })
  expect(vi.getTimerCount()).toBe(0)
})

test('the caller’s signal aborts the request with its reason', async () => {
  vi.stubGlobal('fetch', hang)
  const left = new AbortController()
  const outcome = outcomeOf(fetchWithTimeout('/', { signal: left.signal }))
  left.abort(new Error('left'))
  await vi.advanceTimersByTimeAsync(0)
  expect(outcome.value).toBe('left')
  expect(vi.getTimerCount()).toBe(0)
})
