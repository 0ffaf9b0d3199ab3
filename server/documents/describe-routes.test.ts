import { afterAll, beforeAll, expect, it } from 'vitest'
import { blog, openApp } from '../test-support/app.testing.ts'

// Every response of the data API has a description, with its headers and media type.

interface Response {
  readonly $ref?: string
  readonly headers?: Readonly<Record<string, object>>
  readonly content?: Readonly<Record<string, object>>
}

interface Operation {
  readonly responses: Readonly<Record<string, Response>>
  readonly parameters: readonly { readonly $ref?: string }[]
}

/** Headers that every response has, or that describe its body. */
const COMMON = new Set([
  'content-type',
  'content-length',
  'cache-control',
  'content-security-policy',
  'x-content-type-options',
  'cross-origin-opener-policy',
  'cross-origin-resource-policy',
  'referrer-policy',
])

const { request, close } = await openApp()
let paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
let responses: Readonly<Record<string, Response>>
let parameters: Readonly<Record<string, { name: string; in: string }>>

beforeAll(async () => {
  const described = (await (await request('/_api/openapi.json')).json()) as {
    paths: typeof paths
    components: { responses: typeof responses; parameters: typeof parameters }
  }
  paths = described.paths
  responses = described.components.responses
  parameters = described.components.parameters
  for (const id of ['one', 'two', 'three']) await create({ id, year: 2000 })
  const users = { method: 'POST', headers: JSON_TYPE, body: '[{"name":"a"},{"name":"b"}]' }
  await request('/users', users, blog)
  const index = { method: 'PUT', headers: JSON_TYPE, body: '{"fields":["name"],"unique":true}' }
  await request('/_index/users/by-name', index, blog)
})
afterAll(close)

const JSON_TYPE = { 'Content-Type': 'application/json' }
const create = (body: object) =>
  request('/articles', { method: 'POST', headers: JSON_TYPE, body: JSON.stringify(body) }, blog)

const ASYNC = { Prefer: 'respond-async' }
const MINIMAL = { Prefer: 'return=minimal' }

/** Requests: method, path, expected status, headers, body. */
const requests: readonly [string, string, number, Record<string, string>?, string?][] = [
  ['GET', '/articles?limit=1&year:gte=1999', 200, { Prefer: 'count=exact' }],
  ['GET', '/articles?limit=1&sort=-year&fields=year', 200],
  ['GET', '/articles?limit=2', 206, ASYNC],
  ['GET', '/articles?export-as=csv&csv-cells=raw', 200],
  ['GET', '/articles', 200, { Accept: 'application/x-ndjson' }],
  ['GET', '/articles?limt=1', 400],
  ['GET', '/_db/none/articles', 404],
  ['GET', '/articles', 401, { Authorization: 'Bearer no' }],
  ['GET', '/articles', 406, { Accept: 'application/json; version=9' }],
  ['POST', '/articles', 201, JSON_TYPE, '{"id":"four"}'],
  ['POST', '/articles', 201, JSON_TYPE, '[{},{}]'],
  ['POST', '/articles', 202, { ...JSON_TYPE, ...ASYNC }, '[{}]'],
  ['POST', '/articles', 409, JSON_TYPE, '{"id":"one"}'],
  ['POST', '/articles', 415, { ...JSON_TYPE, 'Content-Encoding': 'br' }, '{}'],
  ['POST', '/articles?on-conflict=skip', 200, { 'Content-Type': 'text/csv' }, 'id\none\n'],
  ['PATCH', '/articles?id=one', 200, { ...JSON_TYPE, 'If-Match': '*' }, '{"a":1}'],
  ['PATCH', '/articles?id=one', 202, { ...JSON_TYPE, ...ASYNC }, '{"a":2}'],
  ['PATCH', '/articles?id=no', 204, { ...JSON_TYPE, ...MINIMAL }, '{"a":2}'],
  ['PATCH', '/articles', 412, { ...JSON_TYPE, 'If-Match': '"a"' }, '{"a":2}'],
  ['PATCH', '/users', 409, JSON_TYPE, '{"name":"same"}'],
  ['DELETE', '/articles?id=no', 200],
  ['DELETE', '/articles?id=no', 202, ASYNC],
  ['DELETE', '/articles?id=no', 204, MINIMAL],
  ['DELETE', '/articles', 412, { 'If-Match': '"a"' }],
  ['GET', '/articles/one', 200],
  ['GET', '/articles/one', 412, { 'If-Match': '"a"' }],
  ['PUT', '/articles/new', 201, { ...JSON_TYPE, 'If-None-Match': '*' }, '{}'],
  ['PUT', '/articles/new', 200, JSON_TYPE, '{"a":1}'],
  ['PATCH', '/articles/new', 200, JSON_TYPE, '{"a":null}'],
  ['DELETE', '/articles/four', 200],
  ['DELETE', '/articles/new', 204, MINIMAL],
  ['DELETE', '/articles/none', 404],
  ['PUT', '/_schema/articles', 200, JSON_TYPE, '{"type":"object"}'],
  ['GET', '/_schema/articles', 304, { 'If-None-Match': '*' }],
  ['DELETE', '/_schema/articles', 200],
  ['PUT', '/_index/articles/by-year', 201, JSON_TYPE, '{"fields":["year"]}'],
  ['GET', '/_index/articles', 200],
  ['DELETE', '/_index/articles/by-year', 204, MINIMAL],
  ['GET', '/_export', 200],
]

it.each(requests)('%s %s with %i is described', async (method, path, status, headers, body) => {
  const init = { method, headers: headers ?? {}, ...(body !== undefined && { body }) }
  await expectDescribed(await request(path, init, blog), method, path, status, init.headers)
})

it('describes the same page, the same document and a job', async () => {
  for (const path of ['/articles?limit=1&year=2000', '/articles/one']) {
    const tag = (await request(path, {}, blog)).headers.get('ETag') ?? ''
    const headers = { 'If-None-Match': tag }
    await expectDescribed(await request(path, { headers }, blog), 'GET', path, 304, headers)
  }
  const started = await request('/articles?limit=1', { headers: ASYNC }, blog)
  const job = `${started.headers.get('Location')}?limit=1`
  const response = await request(job, {}, blog)
  await expectDescribed(response, 'GET', job, response.status, {})
})

async function expectDescribed(
  response: globalThis.Response,
  method: string,
  path: string,
  status: number,
  sent: Readonly<Record<string, string>>,
): Promise<void> {
  const text = await response.text()
  expect(response.status, text).toBe(status)
  const operation = paths[templateOf(path)]?.[method.toLowerCase()]
  const found = operation?.responses[status]
  const described = found?.$ref === undefined ? found : responses[nameOf(found.$ref)]
  const names = Object.keys(described?.headers ?? {}).map((name) => name.toLowerCase())
  const own = [...response.headers.keys()].filter((name) => !COMMON.has(name))
  expect(own.filter((name) => !names.includes(name))).toEqual([])
  const type = response.headers.get('Content-Type')?.split(';')[0]
  if (text !== '') expect(Object.keys(described?.content ?? {})).toContain(type)
  const known = operation?.parameters.map(({ $ref = '' }) => parameters[nameOf($ref)]?.name) ?? []
  const headers = Object.keys(sent).filter((name) => !/^(?:Content-Type|Authorization)$/.test(name))
  expect(known).toEqual(expect.arrayContaining(headers))
  const query = [...new URL(path, 'http://localhost').searchParams.keys()]
  if (status < 400 && !known.includes('filters')) {
    expect(known).toEqual(expect.arrayContaining(query))
  }
}

const nameOf = (ref: string) => ref.replace(/^.*\//, '')

/** Returns the path of the description: `/articles/one` is `/{collection}/{id}`. */
const templateOf = (path: string): string => {
  const { pathname } = new URL(path, 'http://localhost')
  const [, first = '', second, third] = pathname.replace(/^\/_db\/\w+/, '').split('/')
  if (first === '_job') return '/_job/{id}'
  if (!first.startsWith('_')) return second === undefined ? '/{collection}' : '/{collection}/{id}'
  if (second === undefined) return `/${first}`
  return `/${first}/{collection}${third === undefined ? '' : '/{name}'}`
}
