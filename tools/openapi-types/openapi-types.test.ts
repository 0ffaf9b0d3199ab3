import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { openApp } from '../../server/test-support/app.testing.ts'

const bin = (path: string) => fileURLToPath(new URL(`${path}/node_modules/.bin`, import.meta.url))
const generator = `${bin('.')}/openapi-typescript`
const tsc = `${bin('../..')}/tsc`

/**
 * Types that clients of the data API use. A line fails to compile if the description lacks its
 * type.
 */
const CLIENT = `
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
export const job: operations['getJobById']['responses'][206]['content']['application/json']['state'] =
  'running'
// @ts-expect-error a document has an id
export const invalid: Collection['get']['responses'][200]['content']['application/json'] = [{}]
`

/** Runs a command in a folder. Returns its output if it fails, otherwise an empty text. */
function errorsOf(cwd: string, command: string, ...args: string[]): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8' })
  return status === 0 ? '' : `${error?.message ?? ''}${stdout}${stderr}`
}

test('The types that openapi-typescript generates compile under strict', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-types-'))
  const { request, close } = await openApp()
  try {
    const description = await (await request('/_api/openapi.json')).text()
    writeFileSync(path.join(folder, 'openapi.json'), description)
    writeFileSync(path.join(folder, 'client.ts'), CLIENT)
    expect(errorsOf(folder, generator, 'openapi.json', '--output', 'api.ts')).toBe('')
    const strict = ['--strict', '--exactOptionalPropertyTypes', '--allowImportingTsExtensions']
    const target = ['--target', 'es2022', '--module', 'preserve', '--types', '']
    const options = ['--ignoreConfig', '--noEmit', ...strict, ...target]
    expect(errorsOf(folder, tsc, ...options, 'client.ts')).toBe('')
  } finally {
    await close()
    rmSync(folder, { recursive: true })
  }
})
