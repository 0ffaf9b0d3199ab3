import { afterAll, beforeAll, expect, it } from 'vitest'
import { blog, openApp } from '../test-support/app.testing.ts'

const { request, close } = await openApp()
const JSON_TYPE = { 'Content-Type': 'application/json' }

beforeAll(async () => {
  await request('/articles', { method: 'POST', headers: JSON_TYPE, body: '{"id":"one"}' }, blog)
  await request('/_schema/articles', { method: 'PUT', headers: JSON_TYPE, body: '{}' }, blog)
})
afterAll(close)

const VERSION = { Accept: 'application/json; version=9' }
const CHANGED = { 'If-Match': '"a"' }
const SAME = { 'If-None-Match': '*' }

const requests: readonly [
  path: string,
  status: number,
  headers?: Readonly<Record<string, string>>,
][] = [
  ['/articles', 200],
  ['/articles', 200, { Accept: 'text/csv' }],
  ['/articles?export-as=ndjson', 200],
  ['/articles', 206, { Prefer: 'respond-async' }],
  ['/articles', 304, SAME],
  ['/articles', 304, { ...SAME, Accept: 'application/x-ndjson' }],
  ['/articles?limt=1', 400],
  ['/articles', 401, { Authorization: 'Bearer no' }],
  ['/articles', 406, VERSION],
  ['/articles', 412, CHANGED],
  ['/articles/one', 200],
  ['/articles/one', 304, SAME],
  ['/articles/none', 404],
  ['/articles/one', 406, VERSION],
  ['/articles/one', 412, CHANGED],
  ['/_schema/articles', 200],
  ['/_schema/articles', 304, SAME],
  ['/_schema/none', 404],
  ['/_schema/articles', 406, VERSION],
  ['/_schema/articles', 412, CHANGED],
  ['/none/such/path', 404],
]

it.each(requests)('GET %s with %i varies by Accept', async (path, status, headers = {}) => {
  const response = await request(path, { headers }, blog)
  expect(response.status).toBe(status)
  const names = response.headers.get('Vary')?.split(', ')
  expect(names).toContain('Accept')
  // A browser that opens the URL gets an error as a page.
  expect(names?.includes('Sec-Fetch-Mode')).toBe(status >= 400)
  await response.body?.cancel()
})

it('does not vary errors of the API for browsers', async () => {
  const response = await request('/_api/none')
  expect([response.status, response.headers.get('Vary')]).toEqual([404, null])
})
