import { afterAll, beforeAll, expect, it } from 'vitest'
import { type ApiOperation, parseDescription } from '../test-support/api-description.testing.ts'
import { blog, openApp } from '../test-support/app.testing.ts'
import { expectDescribed, operationOf } from '../test-support/expect-described.testing.ts'

// The description of the data API is that of its routes: each response has a description, and each
// described parameter, body, response and header occurs in one of these requests. A header with a
// value that is not described gets an error.

const { request, close } = await openApp()
let operations: readonly ApiOperation[]
/** The parts of the description that occurred, such as `GET /{collection} 200 ETag`. */
const seen = new Set<string>()

beforeAll(async () => {
  operations = parseDescription(await (await request('/_api/openapi.json')).text())
  for (const id of ['one', 'two', 'three']) await create({ id, year: 2000 })
  const users = { method: 'POST', headers: JSON_TYPE, body: '[{"name":"a"},{"name":"b"}]' }
  await request('/users', users, blog)
  const index = { method: 'PUT', headers: JSON_TYPE, body: '{"fields":["name"],"unique":true}' }
  await request('/_index/users/by-name', index, blog)
})
afterAll(close)

type Headers = Readonly<Record<string, string>>

const JSON_TYPE = { 'Content-Type': 'application/json' }
const PATCH_TYPE = { 'Content-Type': 'application/merge-patch+json' }
const CSV_TYPE = { 'Content-Type': 'text/csv' }
const NDJSON_TYPE = { 'Content-Type': 'application/x-ndjson' }
const create = (body: object) =>
  request('/articles', { method: 'POST', headers: JSON_TYPE, body: JSON.stringify(body) }, blog)

const ASYNC = { Prefer: 'respond-async' }
const REPRESENTATION = { Prefer: 'return=representation' }
const MINIMAL = { Prefer: 'return=minimal' }
const ACCEPT = { Accept: 'application/json; version=1' }
const PLAIN = { 'Content-Encoding': 'identity' }
/** No resource has this tag. */
const OTHER = { 'If-None-Match': '"a"' }
const ANY = { 'If-Match': '*' }

/** Requests: method, path, expected status, headers, body. */
const requests: readonly [string, string, number, Headers?, string?][] = [
  ['GET', '/articles?limit=1&year:gte=1999', 200, { Prefer: 'count=exact', ...OTHER }],
  ['GET', '/articles?limit=1&after=one', 200],
  ['GET', '/articles?limit=1&sort=-year&fields=year', 200],
  ['GET', '/articles?limit=2', 206, ASYNC],
  ['GET', '/articles?export-as=csv&csv-cells=raw&csv-separator=tab', 200],
  ['GET', '/articles', 200, { Accept: 'application/x-ndjson' }],
  ['GET', '/articles?limit=1', 200, ANY],
  ['GET', '/articles?limit=1', 304, { 'If-None-Match': '*' }],
  ['GET', '/articles?export-as=csv', 200, { ...ANY, ...OTHER }],
  ['GET', '/articles?export-as=csv', 304, { 'If-None-Match': '*' }],
  ['GET', '/articles?export-as=csv&limit=1', 400, { 'If-None-Match': '*' }],
  ['HEAD', '/articles?export-as=csv', 304, { 'If-None-Match': '*' }],
  ['GET', '/articles', 412, { 'If-Match': '"a"' }],
  ['GET', '/articles?limt=1', 400],
  ['GET', '/_db/none/articles', 404],
  ['GET', '/articles', 401, { Authorization: 'Bearer no' }],
  ['GET', '/articles', 406, { Accept: 'application/json; version=9' }],
  ['POST', '/articles', 201, { ...JSON_TYPE, ...ACCEPT, ...PLAIN }, '{"id":"four"}'],
  ['POST', '/articles', 201, { ...JSON_TYPE, ...ANY }, '[{},{}]'],
  ['POST', '/articles', 412, { ...JSON_TYPE, 'If-Match': '"a"' }, '{}'],
  ['POST', '/articles', 202, { ...JSON_TYPE, ...ASYNC }, '[{}]'],
  ['POST', '/articles', 409, JSON_TYPE, '{"id":"one"}'],
  ['POST', '/articles', 415, { ...JSON_TYPE, 'Content-Encoding': 'br' }, '{}'],
  [
    'POST',
    '/articles?on-conflict=skip&csv-separator=tab&csv-types=string',
    200,
    CSV_TYPE,
    'id\none\n',
  ],
  ['POST', '/articles?on-conflict=skip', 200, NDJSON_TYPE, '{"id":"one"}\n'],
  ['POST', '/articles', 200, { ...CSV_TYPE, ...REPRESENTATION }, 'id\nlisted\n'],
  ['POST', '/articles?on-conflict=skip', 200, JSON_TYPE, '{"id":"one"}'],
  ['POST', '/articles?on-conflict=skip', 200, JSON_TYPE, '[{"id":"one"}]'],
  ['POST', '/articles?on-conflict=replace', 200, JSON_TYPE, '[{"id":"one"}]'],
  ['PATCH', '/articles?id=one', 200, { ...JSON_TYPE, ...ANY, ...ACCEPT, ...PLAIN }, '{"a":1}'],
  ['PATCH', '/articles?id=one', 200, PATCH_TYPE, '{"a":1}'],
  ['PATCH', '/articles?id=one', 202, { ...JSON_TYPE, ...ASYNC }, '{"a":2}'],
  ['PATCH', '/articles?id=no', 204, { ...JSON_TYPE, ...MINIMAL }, '{"a":2}'],
  ['PATCH', '/articles', 412, { ...JSON_TYPE, 'If-Match': '"a"' }, '{"a":2}'],
  ['PATCH', '/users', 409, JSON_TYPE, '{"name":"same"}'],
  ['DELETE', '/articles?id=no', 200, { ...ANY, ...ACCEPT }],
  ['DELETE', '/articles?id=no', 202, ASYNC],
  ['DELETE', '/articles?id=no', 204, MINIMAL],
  ['DELETE', '/articles', 412, { 'If-Match': '"a"' }],
  ['GET', '/articles/one', 200, { ...ANY, ...OTHER, ...ACCEPT }],
  ['GET', '/articles/one', 412, { 'If-Match': '"a"' }],
  ['PUT', '/articles/new', 201, { ...JSON_TYPE, 'If-None-Match': '*' }, '{}'],
  ['PUT', '/articles/new', 200, { ...JSON_TYPE, ...ANY, ...ACCEPT, ...PLAIN }, '{"a":1}'],
  ['PUT', '/articles/none', 404, JSON_TYPE, '{"a":1}'],
  ['PATCH', '/articles/new', 200, { ...PATCH_TYPE, ...ANY, ...OTHER }, '{"a":null}'],
  ['PATCH', '/articles/new', 200, { ...JSON_TYPE, ...ACCEPT, ...PLAIN }, '{"a":null}'],
  ['DELETE', '/articles/four', 200, { ...ANY, ...OTHER, ...ACCEPT }],
  ['DELETE', '/articles/new', 204, MINIMAL],
  ['DELETE', '/articles/none', 404],
  ['PUT', '/_schema/articles', 201, { ...JSON_TYPE, ...ACCEPT, ...PLAIN }, '{"type":"object"}'],
  ['PUT', '/_schema/articles', 200, { ...JSON_TYPE, ...ANY, ...OTHER }, '{"type":"object"}'],
  ['GET', '/_schema/articles', 304, { 'If-None-Match': '*' }],
  ['GET', '/_schema/articles', 200, { ...ANY, ...ACCEPT }],
  ['DELETE', '/_schema/articles', 200, { ...ANY, ...OTHER, ...ACCEPT }],
  ['PUT', '/_schema/articles', 201, JSON_TYPE, '{}'],
  ['DELETE', '/_schema/articles', 204, MINIMAL],
  ['PUT', '/_index/articles/by-year', 201, { ...JSON_TYPE, ...PLAIN }, '{"fields":["year"]}'],
  [
    'PUT',
    '/_index/articles/by-year',
    412,
    { ...JSON_TYPE, 'If-Match': '"a"' },
    '{"fields":["year"]}',
  ],
  ['PUT', '/_index/articles/by-year', 200, { ...JSON_TYPE, ...ANY }, '{"fields":["year"]}'],
  ['PUT', '/_index/articles/by-year', 409, JSON_TYPE, '{"fields":["-year"]}'],
  ['PUT', '/_index/articles/by-day', 413, JSON_TYPE, `{"fields":["${'x'.repeat(20_000)}"]}`],
  ['GET', '/_index/articles', 200],
  ['GET', '/_index/articles', 200, { ...ANY, ...OTHER }],
  ['GET', '/_index/articles', 304, { 'If-None-Match': '*' }],
  ['GET', '/_index/articles', 412, { 'If-Match': '"a"' }],
  ['DELETE', '/_index/articles/by-year', 412, { 'If-Match': '"a"' }],
  ['DELETE', '/_index/articles/by-year', 200, ANY],
  ['DELETE', '/_index/users/by-name', 204, MINIMAL],
  ['DELETE', '/_index/articles/by-year', 404],
  ['PUT', '/_feed/articles', 412, { ...JSON_TYPE, 'If-Match': '"a"' }, '{}'],
  ['PUT', '/_feed/articles', 201, JSON_TYPE, '{}'],
  ['PUT', '/_feed/articles', 200, JSON_TYPE, '{"retain":"1d"}'],
  ['PUT', '/articles/followed', 201, { ...JSON_TYPE, 'If-None-Match': '*' }, '{}'],
  ['GET', '/_feed', 200],
  ['GET', '/_feed/articles', 200],
  ['GET', '/_feed/articles/changes?limit=1&include=document&year=2000', 200],
  ['GET', '/_feed/articles/changes?fields=year', 200, { Accept: '*/*', Prefer: 'wait=1' }],
  ['DELETE', '/_feed/articles', 200, ANY],
  ['PUT', '/_feed/articles', 201, JSON_TYPE, '{}'],
  ['DELETE', '/_feed/articles', 204, MINIMAL],
  ['GET', '/_export', 200],
  ['GET', '/_export', 200, { ...ANY, ...OTHER }],
  ['GET', '/_export', 304, { 'If-None-Match': '*' }],
  ['GET', '/_export', 412, { 'If-Match': '"a"' }],
  ['POST', '/_import?on-conflict=skip', 200, { ...NDJSON_TYPE, ...PLAIN }, dump()],
  ['POST', '/_import?on-conflict=skip', 202, { ...NDJSON_TYPE, ...ASYNC }, dump()],
  ['POST', '/_import', 409, { ...NDJSON_TYPE, ...ANY }, dump()],
  ['POST', '/_import?on-conflict=skip', 412, { ...NDJSON_TYPE, 'If-Match': '"a"' }, dump()],
  ['POST', '/_import?on-conflict=skip', 200, { ...NDJSON_TYPE, ...ANY }, dump()],
]

it.each(requests)('%s %s with %i is described', async (method, path, status, headers, body) => {
  await check(method, path, status, headers, body)
})

it('describes the same page, the same document and a job', async () => {
  for (const path of ['/articles?limit=1&year=2000', '/articles/one']) {
    const counted: Headers = path.includes('?') ? { Prefer: 'count=exact' } : {}
    const tag = (await request(path, { headers: counted }, blog)).headers.get('ETag') ?? ''
    await check('GET', path, 304, { ...counted, 'If-None-Match': tag })
  }
  const sorted = await request('/articles?limit=1&sort=-year', {}, blog)
  const next = /<(.*)>/.exec(sorted.headers.get('Link') ?? '')?.[1] ?? ''
  await check('GET', next, 200)
  const tag = sorted.headers.get('ETag') ?? ''
  await check('GET', '/articles?limit=1&sort=-year', 304, { 'If-None-Match': tag })
  const started = await request('/articles?limit=1', { headers: ASYNC }, blog)
  const job = started.headers.get('Location') ?? ''
  const state = async () => (await request(job, {}, blog)).status
  await expect.poll(state).toBe(200)
  await check('GET', `${job}?limit=1&after=a`, 200)
  await check('DELETE', job, 200)
  await check('DELETE', job, 204, MINIMAL)
  await check('DELETE', '/_job/none', 404)
  const feed = await request(
    '/_feed/articles',
    { method: 'PUT', headers: JSON_TYPE, body: '{}' },
    blog,
  )
  const { last } = await feed.json()
  await check('GET', `/_feed/articles/changes?after=${last}`, 200)
})

it('describes nothing else', () => {
  const described = operations
    // `/{collection}/?id=` has the operations of `/{collection}/{id}`.
    .filter(({ path }) => !path.startsWith('/_api/') && path !== '/{collection}/')
    .flatMap((operation) => partsOf(operation))
  expect(described.length).toBeGreaterThan(150)
  expect(described.filter((part) => !seen.has(part) && !isUnseen(part))).toEqual([])
})

/** Parts that need a socket, a damaged disk, a job that is still running, or an endless stream. */
const isUnseen = (part: string) =>
  /(?:accept-encoding|content-encoding|vary|gatehouse-skipped-documents)$/.test(part) ||
  part.startsWith('GET /_job/{id} 206') ||
  /(?:header last-event-id|text\/event-stream)$/.test(part)

/** Returns the parts of an operation's description: parameters, bodies and successful responses. */
function partsOf(operation: ApiOperation): string[] {
  const { method, path, parameters, body, statuses } = operation
  const name = `${method} ${path}`
  const responses = statuses.filter((status) => status < 400)
  return [
    ...parameters
      .filter((each) => each.in !== 'path')
      .map((each) => `${name} sends ${each.in} ${each.name.toLowerCase()}`),
    ...[...(body?.keys() ?? [])].map((type) => `${name} sends ${type}`),
    ...responses.flatMap((status) => {
      const { headers = [], types = [] } = operation.response(status) ?? {}
      return [...headers, ...types].map((part) => `${name} ${status} ${part}`)
    }),
    ...responses.map((status) => `${name} ${status}`),
  ]
}

/** Sends a request. Expects its parameters and its response to be described. */
async function check(
  method: string,
  path: string,
  status: number,
  sent: Headers = {},
  body?: string,
): Promise<void> {
  const init = { method, headers: sent, ...(body !== undefined && { body }) }
  const response = await request(path, init, blog)
  const text = await response.text()
  expect(response.status, text).toBe(status)
  const operation = operationOf(operations, method, path)
  if (operation === undefined) throw new Error(`The description lacks ${method} ${path}.`)
  const headers = Object.fromEntries(response.headers)
  expectDescribed(operation, { status, headers, text })

  const { 'Content-Type': type, Authorization: _, ...others } = sent
  const names = (where: string) =>
    operation.parameters.filter((each) => each.in === where).map((each) => each.name)
  expect(names('header')).toEqual(expect.arrayContaining(Object.keys(others)))
  for (const { name, schema } of operation.parameters) {
    const value = others[name]
    if (status >= 400 || value === undefined || schema.enum === undefined) continue
    expect(schema.enum).toContain(value)
  }
  const query = [...new URL(path, 'http://localhost').searchParams.keys()].map((name) =>
    names('query').includes(name) || !names('query').includes('filters') ? name : 'filters',
  )
  if (status < 400) expect(names('query')).toEqual(expect.arrayContaining(query))
  if (type !== undefined) expect([...(operation.body?.keys() ?? [])]).toContain(type)

  const name = `${operation.method} ${operation.path}`
  const parts = [
    `${status}`,
    ...Object.keys(headers).map((header) => `${status} ${header}`),
    `${status} ${String(headers['content-type']).split(';')[0]}`,
    ...Object.keys(others).map((header) => `sends header ${header.toLowerCase()}`),
    ...query.map((parameter) => `sends query ${parameter}`),
    `sends ${type}`,
  ]
  for (const part of parts) seen.add(`${name} ${part}`)
}

/** An export of a database without collections. */
function dump(): string {
  return '{"gatehouse":1,"database":"blog"}\n{"end":{"collections":0,"documents":0}}\n'
}
