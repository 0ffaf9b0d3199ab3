import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Principal } from '../contract/access/principal.ts'
import {
  type RequestBatch,
  type RequestFilter,
  toRequestFilter,
} from '../contract/endpoints/request.ts'
import { createRequestRecorder, type EndedRequest, type RecordedRequest } from './recorder.ts'
import { Rings } from './rings.ts'

const request = (over: Partial<EndedRequest> = {}): EndedRequest => ({
  endpoint: 'tcp://127.0.0.1:1',
  client: '192.0.2.1',
  method: 'GET',
  path: '/articles',
  status: 200,
  ms: 1,
  bytes: 2,
  personId: 'ada',
  caller: 'github:1',
  token: 'ci',
  database: 'blog',
  rejected: null,
  ...over,
})

const reader = (over: Partial<Principal> = {}) =>
  ({ personId: 'me', role: 'operator', databases: null, ...over }) as Principal

const all: RequestFilter = toRequestFilter({})

const open = (maxBytes?: number) => {
  const rings = new Rings<RecordedRequest>(maxBytes)
  return createRequestRecorder({ node: 'n', rings, steady: () => performance.now() })
}

test('keeps the last 200 requests of each endpoint, and returns the newest first', () => {
  const recorder = open()
  for (let at = 0; at < 450; at++) {
    for (const endpoint of ['a', 'b']) recorder.record(request({ endpoint, path: `/${at}` }))
  }
  recorder.record(request({ endpoint: 'c' }))
  const list = recorder.list({ ...all, limit: 1_000 }, reader())
  expect(list.map(({ id }) => id)).toEqual([
    901,
    ...Array.from({ length: 400 }, (_, at) => 900 - at),
  ])
  expect(recorder.list({ ...all, limit: 3 }, reader()).map(({ id }) => id)).toEqual([901, 900, 899])
  const [newest, ...rest] = recorder.list({ ...all, endpoints: new Set(['a']) }, reader())
  expect([newest?.path, rest.at(-1)?.path, rest.length]).toEqual(['/449', '/250', 199])
})

test('discards the requests of endpoints without recent ones to stay within its memory', () => {
  const recorder = open(256 * 1024)
  const endpoints = Array.from({ length: 1_000 }, (_, at) => `tcp://127.0.0.1:${at}`)
  for (const endpoint of endpoints) recorder.record(request({ endpoint }))
  const kept = new Set(
    recorder.list({ ...all, limit: 1_000 }, reader()).map(({ endpoint }) => endpoint),
  )
  expect(kept.size).toBeGreaterThan(50)
  expect(kept.size).toBeLessThan(125)
  expect([...kept]).toEqual(endpoints.slice(-kept.size).reverse())
  // A ring in use stays, and long texts count.
  for (let at = 0; at < 200; at++) {
    recorder.record(request({ endpoint: 'long', path: 'x'.repeat(256) }))
  }
  const left = recorder.list({ ...all, limit: 1_000 }, reader())
  expect(left.filter(({ endpoint }) => endpoint === 'long')).toHaveLength(200)
  expect(left.length - 200).toBeLessThan(kept.size / 2)
})

test('filters by endpoint, status, rejection and client', () => {
  const recorder = open()
  recorder.record(request({ status: 404, client: '192.0.2.2' }))
  recorder.record(request({ status: 403, rejected: 'role' }))
  recorder.record(request({ endpoint: 'tcp://[::1]:1' }))
  const ids = (query: Parameters<typeof toRequestFilter>[0], who = reader()) =>
    recorder.list(toRequestFilter(query), who).map(({ id }) => id)
  expect(ids({ endpoint: ['tcp://127.0.0.1:1'] })).toEqual([2, 1])
  expect(ids({ endpoint: ['tcp://[0:0:0:0:0:0:0:1]:1', 'tcp://127.0.0.1:2'] })).toEqual([3])
  expect(ids({ status: '4xx' })).toEqual([2, 1])
  expect(ids({ status: '404' })).toEqual([1])
  expect(ids({ rejected: 'true' })).toEqual([2])
  expect(ids({ rejected: 'false' })).toEqual([3, 1])
  expect(ids({ client: '192.0.2.2' })).toEqual([1])
  // Otherwise a viewer could find out addresses.
  expect(ids({ client: '192.0.2.2' }, reader({ role: 'viewer' }))).toEqual([])
  expect(ids({ client: '192.0.2.2' }, reader({ role: 'viewer', personId: 'ada' }))).toEqual([1])
})

test('viewers and editors see addresses and names of their own requests only', () => {
  const recorder = open()
  recorder.record(request())
  recorder.record(request({ personId: undefined, caller: null, token: null }))
  const seen = (over: Partial<Principal>) =>
    recorder
      .list(all, reader(over))
      .map(({ client, caller, token, path }) => [client, caller, token, path])
  const whole = [
    ['192.0.2.1', null, null, '/articles'],
    ['192.0.2.1', 'github:1', 'ci', '/articles'],
  ]
  const hidden = [null, null, null, '/articles']
  expect(seen({ role: 'operator' })).toEqual(whole)
  expect(seen({ role: 'viewer' })).toEqual([hidden, hidden])
  expect(seen({ role: 'editor' })).toEqual([hidden, hidden])
  expect(seen({ role: 'viewer', personId: 'ada' })).toEqual([hidden, whole[1]])
  expect(JSON.stringify(recorder.list(all, reader({ role: 'admin' })))).not.toContain('personId')
})

test('a person who is limited to databases sees their requests only', () => {
  const recorder = open()
  recorder.record(request())
  recorder.record(request({ database: 'shop' }))
  recorder.record(request({ database: null, rejected: 'database' }))
  const limited = reader({ role: 'admin', databases: ['shop'] })
  expect(recorder.list(all, limited).map(({ id }) => id)).toEqual([2])
})

test('successful requests are recorded only while a client follows them', () => {
  const recorder = open()
  const wanted = () => [recorder.isFollowed, recorder.follows('a'), recorder.follows('b')]
  const watch = (query: Parameters<typeof toRequestFilter>[0]) =>
    recorder.watch(toRequestFilter(query), reader()).subscribe(() => {})
  expect(wanted()).toEqual([false, false, false])
  const stopRejected = watch({ rejected: 'true' })
  expect(wanted()).toEqual([false, false, false])
  const stop = recorder.watch({ ...all, endpoints: new Set(['a']) }, reader()).subscribe(() => {})
  expect(wanted()).toEqual([true, true, false])
  const stopAll = watch({})
  expect(wanted()).toEqual([true, true, true])
  for (const each of [stop, stopAll, stopRejected]) each()
  expect(wanted()).toEqual([false, false, false])
  const logging = createRequestRecorder({ node: 'n', writeLine: () => {} })
  expect([logging.isFollowed, logging.follows('a')]).toEqual([true, true])
})

test('the access log gets addresses and names', () => {
  const lines: object[] = []
  const recorder = createRequestRecorder({ node: 'n', writeLine: (entry) => lines.push(entry) })
  recorder.record(request())
  const { personId: _, ...rest } = request()
  expect(lines).toEqual([{ id: 1, node: 'n', time: expect.any(String), ...rest }])
})

let woken = 0
function startWatching(query: Parameters<typeof toRequestFilter>[0] = {}) {
  const recorder = open()
  recorder.record(request({ path: '/before' }))
  const watcher = recorder.watch(toRequestFilter(query), reader())
  woken = 0
  const stop = watcher.subscribe(() => woken++)
  const take = (who = reader()) => {
    const batch = watcher.take(who) as RequestBatch | undefined
    return batch && [batch.requests.map(({ path }) => path), batch.leftOut]
  }
  return { recorder, take, stop }
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

test('a watcher gets what was recorded before, then batches of new requests', () => {
  const { recorder, take, stop } = startWatching({ rejected: 'false' })
  recorder.record(request({ path: '/between' }))
  expect(take()).toEqual([['/between', '/before'], 0])
  vi.advanceTimersByTime(200)
  expect(take()).toBeUndefined()
  const before = woken
  for (const path of ['/1', '/2']) recorder.record(request({ path }))
  recorder.record(request({ path: '/3', rejected: 'role' }))
  vi.advanceTimersByTime(199)
  expect(woken).toBe(before)
  vi.advanceTimersByTime(1)
  expect(woken).toBe(before + 1)
  expect(take()).toEqual([['/2', '/1'], 0])
  stop()
  recorder.record(request({ path: '/4' }))
  vi.advanceTimersByTime(1_000)
  expect(take()).toBeUndefined()
})

test('a watcher gets at most 50 requests a second, and the number of those left out', () => {
  const { recorder, take } = startWatching()
  take()
  const send = (count: number) => {
    for (let at = 0; at < count; at++) recorder.record(request({ path: `/${at}` }))
  }
  const count = () => {
    const [paths, leftOut] = take() ?? [[], 0]
    return [(paths as string[]).length, leftOut]
  }
  send(30)
  vi.advanceTimersByTime(200)
  expect(count()).toEqual([30, 0])
  send(100)
  vi.advanceTimersByTime(200)
  expect(count()).toEqual([20, 80])
  send(7)
  vi.advanceTimersByTime(200)
  expect(count()).toEqual([0, 7])
  vi.advanceTimersByTime(400)
  send(60)
  expect(count()).toEqual([50, 10])
  // A reader that is slow to take its batch does not make it longer.
  send(40)
  vi.advanceTimersByTime(1_000)
  send(40)
  vi.advanceTimersByTime(1_000)
  send(40)
  expect(count()).toEqual([50, 70])
})

test('a watcher whose role or databases change gets no more than they permit', () => {
  const { recorder, take } = startWatching()
  take()
  recorder.record(request())
  expect(take(reader({ role: 'viewer', databases: ['shop'] }))).toBeUndefined()
  recorder.record(request({ database: 'shop' }))
  recorder.record(request())
  expect(take(reader({ databases: ['shop'] }))).toEqual([['/articles'], 0])
})
