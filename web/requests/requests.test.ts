import { expect, test } from 'vitest'
import type { RequestEntry } from '../../server/contract/endpoints/request.ts'
import { describeCaller, describeRequest, labelRejection } from './describe-request.ts'
import { addBatch, keyOf, NO_FILTER, type TailFilter, toMatch, toStreamQuery } from './tail.ts'

const request = (over: Partial<RequestEntry> = {}): RequestEntry => ({
  id: 1,
  time: '2026-05-01T12:00:00.000Z',
  node: 'n1',
  endpoint: 'tcp://127.0.0.1:8530',
  client: '203.0.113.7',
  method: 'GET',
  path: '/articles/One',
  status: 200,
  ms: 1.5,
  bytes: 12,
  caller: 'github:1',
  token: null,
  database: 'blog',
  rejected: null,
  ...over,
})

const filter = (over: Partial<TailFilter>): TailFilter => ({ ...NO_FILTER, ...over })

test('a tail keeps the newest 200 requests and counts those left out', () => {
  let tail = addBatch(undefined, { requests: [request()], leftOut: 1, isFirst: false })
  const newer = Array.from({ length: 150 }, (_, at) => request({ id: 300 - at }))
  for (const leftOut of [3, 4]) tail = addBatch(tail, { requests: newer, leftOut, isFirst: false })
  expect([tail.requests.length, tail.requests[0]?.id, tail.leftOut]).toEqual([200, 300, 8])
  expect(tail.requests.map(({ id }) => id)).not.toContain(1)
  tail = addBatch(tail, { requests: [request()], leftOut: 0, isFirst: true })
  expect(tail).toEqual({ requests: [request()], leftOut: 0 })
  const restarted = request({ time: '2026-05-01T12:00:01.000Z' })
  expect(keyOf(restarted)).not.toBe(keyOf(request()))
})

test.each([
  [{}, 'requests=a'],
  [{ status: 'rejected' }, 'requests=a&rejected=true'],
  [{ status: 'allow' }, 'requests=a&rejected=true'],
  [{ status: '4xx', path: '/x' }, 'requests=a&status=4xx'],
  [{ client: ' 203.0.113.7 ' }, 'requests=a&client=203.0.113.7'],
  [{ client: '2001:DB8:0::1' }, 'requests=a&client=2001%3Adb8%3A%3A1'],
  // Parts of addresses are no addresses.
  [{ client: '203.0.113' }, 'requests=a'],
  [{ client: '2001:db8:' }, 'requests=a'],
  [{ client: 'a b' }, 'requests=a'],
])('the server selects by what it can: %o', (over, query) => {
  expect(toStreamQuery('a', filter(over))).toBe(query)
})

test('the stream of all endpoints has rejected requests only', () => {
  expect(toStreamQuery(undefined, filter({ status: '403' }))).toBe(
    'requests=*&rejected=true&status=403',
  )
})

test.each([
  [{ status: '2xx' }, true],
  [{ status: '200' }, true],
  [{ status: '4xx' }, false],
  [{ status: 'rejected' }, false],
  [{ status: 'allow' }, false],
  [{ client: '203.0.113.7' }, true],
  [{ client: '203.0' }, true],
  // A complete address is no part of a longer one.
  [{ client: '203.0.113.77' }, false],
  [{ client: '3.0.113.7' }, false],
  [{ path: 'articles/one' }, true],
  [{ path: '/shop' }, false],
])('a request matches %o: %s', (over, expected) => {
  expect(toMatch(filter(over))(request())).toBe(expected)
})

test('a refused connection has no status, path or caller to match', () => {
  const refused = request({ method: null, path: null, status: null, rejected: 'allow' })
  const match = (over: Partial<TailFilter>) => toMatch(filter(over))(refused)
  expect([match({}), match({ status: 'rejected' }), match({ client: '203.' })]).toEqual([
    true,
    true,
    true,
  ])
  expect([match({ status: '4xx' }), match({ path: '/' })]).toEqual([false, false])
})

test.each([
  [
    { rejected: 'allow', status: 403 },
    'The endpoint does not admit the address 203.0.113.7: it is blocked, or not in the list of allowed addresses.',
  ],
  [
    { rejected: 'maxConnections', method: null, status: null },
    'The connection was refused. The endpoint had as many open connections as its policy permits.',
  ],
  [{ rejected: 'readOnly', status: 403 }, 'Documents can only be read at this endpoint.'],
  [{ rejected: 'later', status: 403 }, 'The rule “later” rejected the request.'],
  [{ status: null }, 'The client disconnected before the response was complete.'],
  [{ status: 404 }, 'No rule rejected the request, but it could not be answered.'],
  [{ status: 503 }, 'The server could not answer the request.'],
  [{}, 'The request was answered.'],
])('what became of a request: %o', (over, sentence) => {
  expect(describeRequest(request(over))).toBe(sentence)
})

test('a viewer sees that a client is hidden, and an operator that there is none', () => {
  const anonymous = request({ client: null, caller: null })
  expect(describeCaller(anonymous, false)).toEqual({ client: 'hidden', caller: 'hidden' })
  expect(describeCaller(anonymous, true)).toEqual({ client: '–', caller: 'not authenticated' })
  const local = request({
    client: null,
    caller: 'local:operator',
    token: 'ci',
    endpoint: 'unix:/x',
  })
  expect(describeCaller(local, false)).toEqual({
    client: 'Unix socket',
    caller: 'local:operator, token ci',
  })
  expect(labelRejection('credential')).toBe('No valid token')
  expect(labelRejection('later')).toBe('later')
})
