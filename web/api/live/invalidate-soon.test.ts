import { QueryClient, QueryObserver } from '@tanstack/react-query'
import { afterEach, expect, test, vi } from 'vitest'
import { invalidateSoon } from './invalidate-soon.ts'

afterEach(() => vi.useRealTimers())

/** Sets up a query client with one observed list and spies on its full and partial fetches. */
function watched(
  refetchEndpoints?: (names: readonly string[]) => Promise<void>,
  first = Promise.resolve(['first']),
) {
  vi.useFakeTimers()
  const queryClient = new QueryClient({
    defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY } },
  })
  const whole = vi.fn(async () => ['all']).mockReturnValueOnce(first)
  const parts = vi.fn(refetchEndpoints)
  const observer = new QueryObserver(queryClient, {
    queryKey: ['endpoint'],
    queryFn: whole,
    meta: refetchEndpoints && {
      refetchEndpoints: (_: QueryClient, names: readonly string[]) =>
        parts(names) ?? Promise.resolve(),
    },
  })
  observer.subscribe(() => {})
  return { whole, parts, ...invalidateSoon(queryClient) }
}

const changed = (endpoint: string) => ({ type: 'endpoint', endpoint, revision: 1 }) as const

test('simultaneous events cause one fetch of the named parts', async () => {
  const { whole, parts, note } = watched(async () => {})
  await vi.advanceTimersByTimeAsync(0)
  for (const name of ['a', 'b', 'a']) note(changed(name))
  await vi.advanceTimersByTimeAsync(200)
  expect(parts.mock.calls).toEqual([[['a', 'b']]])
  expect(whole).toHaveBeenCalledTimes(1)
})

test('events during a fetch cause another fetch after it', async () => {
  const answers: (() => void)[] = []
  const { parts, note } = watched(() => new Promise((resolve) => answers.push(resolve)))
  await vi.advanceTimersByTimeAsync(0)
  note(changed('a'))
  await vi.advanceTimersByTimeAsync(200)
  note(changed('b'))
  await vi.advanceTimersByTimeAsync(1_000)
  expect(parts).toHaveBeenCalledTimes(1)
  answers[0]?.()
  await vi.advanceTimersByTimeAsync(200)
  expect(parts.mock.calls).toEqual([[['a']], [['b']]])
})

test.each([changed('a'), { type: 'reset' } as const])(
  'an event during the first fetch causes another fetch after it: $type',
  async (event) => {
    const first = Promise.withResolvers<string[]>()
    const { whole, note } = watched(undefined, first.promise)
    note(event)
    await vi.advanceTimersByTimeAsync(200)
    expect(whole).toHaveBeenCalledTimes(1)
    first.resolve([])
    await vi.advanceTimersByTimeAsync(0)
    expect(whole).toHaveBeenCalledTimes(2)
  },
)

test('an event during the prefetch of a list that is not shown marks it as outdated', async () => {
  vi.useFakeTimers()
  const queryClient = new QueryClient()
  const queryKey = ['endpoint']
  queryClient.setQueryData(queryKey, ['old'])
  const fetch = Promise.withResolvers<string[]>()
  void queryClient.prefetchQuery({ queryKey, queryFn: () => fetch.promise })
  invalidateSoon(queryClient).note(changed('a'))
  await vi.advanceTimersByTimeAsync(200)
  fetch.resolve(['read before the event'])
  await vi.advanceTimersByTimeAsync(0)
  expect(queryClient.getQueryState(queryKey)?.isInvalidated).toBe(true)
})

test.each([
  ['the list cannot be read in part', undefined, 1],
  ['the part cannot be read', () => Promise.reject(new Error('no')), 1],
  ['more have changed than fit into a request', async () => {}, 101],
])('everything is refetched if %s', async (_, refetchEndpoints, count) => {
  const { whole, note } = watched(refetchEndpoints)
  await vi.advanceTimersByTimeAsync(0)
  for (let at = 0; at < count; at++) note(changed(`tcp://a:${at}`))
  await vi.advanceTimersByTimeAsync(200)
  expect(whole).toHaveBeenCalledTimes(2)
})

test('a gap refetches everything', async () => {
  const { whole, parts, note } = watched(async () => {})
  await vi.advanceTimersByTimeAsync(0)
  note({ type: 'reset' })
  note(changed('a'))
  await vi.advanceTimersByTimeAsync(200)
  expect(whole).toHaveBeenCalledTimes(2)
  expect(parts).not.toHaveBeenCalled()
})

test('static queries are refetched only after a failure', async () => {
  vi.useFakeTimers()
  const queryClient = new QueryClient({ defaultOptions: { queries: { retry: false } } })
  const read = vi.fn(async () => ['row'])
  read.mockRejectedValueOnce(new Error('away'))
  const observer = new QueryObserver(queryClient, {
    queryKey: ['activity'],
    queryFn: read,
    meta: { excludeFromReset: true },
  })
  observer.subscribe(() => {})
  await vi.advanceTimersByTimeAsync(0)
  const { note } = invalidateSoon(queryClient)
  for (const calls of [2, 2]) {
    note({ type: 'reset' })
    await vi.advanceTimersByTimeAsync(200)
    expect(read).toHaveBeenCalledTimes(calls)
  }
})

test('a reset during the first fetch of a static query causes no other fetch', async () => {
  vi.useFakeTimers()
  const queryClient = new QueryClient()
  const first = Promise.withResolvers<string[]>()
  const read = vi.fn(() => first.promise)
  const meta = { excludeFromReset: true }
  new QueryObserver(queryClient, { queryKey: ['activity'], queryFn: read, meta }).subscribe(
    () => {},
  )
  invalidateSoon(queryClient).note({ type: 'reset' })
  await vi.advanceTimersByTimeAsync(200)
  first.resolve(['row'])
  await vi.advanceTimersByTimeAsync(200)
  expect(read).toHaveBeenCalledTimes(1)
})

test('no event causes a fetch after a stop', async () => {
  const { parts, note, stop } = watched(async () => {})
  await vi.advanceTimersByTimeAsync(0)
  stop()
  note(changed('a'))
  await vi.advanceTimersByTimeAsync(200)
  expect(parts).not.toHaveBeenCalled()
})
