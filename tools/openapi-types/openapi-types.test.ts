import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { startForTest } from '../../server/test-support/start.testing.ts'

const bin = (path: string) => fileURLToPath(new URL(`${path}/node_modules/.bin`, import.meta.url))
const generator = `${bin('.')}/openapi-typescript`
const tsc = `${bin('../..')}/tsc`

/**
 * Types that clients of the data API use. A line fails to compile if the description lacks its
 * type.
 */
const TYPES = `
import type { operations, paths } from './api.ts'

type Has<Type, Key extends keyof Type> = Type[Key]
// Without the index signature, which permits any header.
type Named<All> = { [Name in keyof All as string extends Name ? never : Name]: All[Name] }
type Headers<Response> = Response extends { headers: infer All } ? Named<All> : never
type Collection = paths['/{collection}']

export const list: Has<NonNullable<Collection['get']['parameters']['query']>, 'sort'> = '-year'
export const twice: NonNullable<Collection['get']['parameters']['query']>['filters'] = {
  'year:gte': '2000',
  tags: ['a', 'b'],
}
export const packed: Has<
  NonNullable<paths['/_index/{collection}/{name}']['put']['parameters']['header']>,
  'Content-Encoding'
> = 'gzip'
export const coding: Has<Headers<Collection['get']['responses'][200]>, 'Content-Encoding'> = 'br'
export const patch: NonNullable<
  Collection['patch']['requestBody']
>['content']['application/merge-patch+json'] = {}
export const format: NonNullable<Collection['get']['parameters']['query']>['export-as'] = 'csv'
export const page: Collection['get']['responses'][200]['content']['application/json'] = [
  { id: 'one', title: 'One' },
]
export const total: Has<Headers<Collection['get']['responses'][200]>, 'X-Total-Count'> = 1
export const same: Has<Headers<Collection['get']['responses'][304]>, 'ETag'> = '"a"'
export const only: Has<NonNullable<Collection['patch']['parameters']['header']>, 'If-Match'> = '*'
export const done: Has<Headers<Collection['delete']['responses'][204]>, 'Preference-Applied'> =
  'return=minimal'
export const job: operations['getJob']['responses'][206]['content']['application/json']['state'] =
  'running'
// @ts-expect-error a document has an id
export const invalid: Collection['get']['responses'][200]['content']['application/json'] = [{}]
`

/** A program that changes and reads documents, and prints what it found. */
const CLIENT = `
import type { operations } from './api.ts'

declare const process: { readonly argv: readonly string[] }
const [, , base, token] = process.argv

type Sent<Id extends keyof operations> =
  NonNullable<operations[Id]['requestBody']> extends { content: { 'application/json': infer Body } }
    ? Body
    : never
type Received<Id extends keyof operations> =
  operations[Id]['responses'] extends { 200: { content: { 'application/json': infer Body } } }
    ? Body
    : never

async function send(method: string, path: string, body?: unknown): Promise<unknown> {
  const headers = { Authorization: 'Bearer ' + token, 'Content-Type': 'application/json' }
  const init = body === undefined ? {} : { body: JSON.stringify(body) }
  const response = await fetch(base + path, { method, headers, ...init })
  if (!response.ok) throw new Error(method + ' ' + path + ': ' + (await response.text()))
  return response.json()
}

const database: Sent<'createDatabase'> = { name: 'blog' }
await send('POST', '/_db/_system/_api/database', database)
const schema: Sent<'setSchema'> = { type: 'object', required: ['title'] }
await send('PUT', '/_db/blog/_schema/articles', schema)
const index: Sent<'createIndex'> = { fields: ['-year'] }
await send('PUT', '/_db/blog/_index/articles/by-year', index)
const documents: Sent<'createDocument'> = [
  { title: 'One', year: 1999 },
  { id: 'two', title: 'Two', year: 2000, author: { name: 'ada' } },
]
await send('POST', '/_db/blog/articles', documents)
const whole: Sent<'replaceDocument'> = { title: 'Two', year: 2001, tags: ['a'] }
await send('PUT', '/_db/blog/articles/two', whole)
const patch: Sent<'patchDocument'> = { tags: null, pages: 7 }
await send('PATCH', '/_db/blog/articles/two', patch)

const query: NonNullable<operations['listDocuments']['parameters']['query']> = {
  filters: { 'year:gte': '2000' },
  limit: 10,
}
const text = new URLSearchParams({ ...query.filters as {}, limit: String(query.limit) })
const found = (await send('GET', '/_db/blog/articles?' + text)) as Received<'listDocuments'>
console.log(JSON.stringify(found.map(({ id, pages }) => [id, pages])))
`

/** Runs a command in a folder. Returns its output if it fails, otherwise an empty text. */
function errorsOf(cwd: string, command: string, ...args: string[]): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8' })
  return status === 0 ? '' : `${error?.message ?? ''}${stdout}${stderr}`
}

test('A client with the types that openapi-typescript generates compiles under strict, and runs', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-types-'))
  const { request, stop, port, token } = await startForTest()
  try {
    const description = await request('GET', '/_db/_system/_api/openapi.json')
    writeFileSync(path.join(folder, 'openapi.json'), description.text)
    writeFileSync(path.join(folder, 'types.ts'), TYPES)
    writeFileSync(path.join(folder, 'client.ts'), CLIENT)
    writeFileSync(path.join(folder, 'package.json'), '{"type":"module"}')
    expect(errorsOf(folder, generator, 'openapi.json', '--output', 'api.ts')).toBe('')
    const strict = ['--strict', '--exactOptionalPropertyTypes', '--allowImportingTsExtensions']
    const target = ['--target', 'es2022', '--module', 'preserve', '--types', '']
    const options = ['--ignoreConfig', '--noEmit', ...strict, ...target]
    expect(errorsOf(folder, tsc, ...options, 'types.ts', 'client.ts')).toBe('')

    const client = ['client.ts', `http://127.0.0.1:${port}`, token]
    const { stdout } = await promisify(execFile)(process.execPath, client, { cwd: folder })
    expect(JSON.parse(stdout)).toEqual([['two', 7]])
  } finally {
    await stop()
    rmSync(folder, { recursive: true })
  }
})
