import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import openapiTypes, { astToString } from 'openapi-typescript'
import { expect, test } from 'vitest'
import { openApp } from '../../server/test-support/app.testing.ts'

const tsc = fileURLToPath(new URL('../../node_modules/.bin/tsc', import.meta.url))

/** What a client of the data API relies on. Each line fails to compile if it is not described. */
const CLIENT = `
import type { operations, paths } from './api.ts'

type Has<Type, Key extends keyof Type> = Type[Key]
type Headers<Response> = Response extends { headers: infer All } ? All : never
type Collection = paths['/{collection}']

export const list: Has<NonNullable<Collection['get']['parameters']['query']>, 'sort'> = '-year'
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

test('The types that openapi-typescript generates compile under strict', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-types-'))
  const { ask, close } = await openApp()
  try {
    const description = await (await ask('/_api/openapi.json')).text()
    const types = astToString(await openapiTypes(description))
    writeFileSync(path.join(folder, 'api.ts'), types)
    writeFileSync(path.join(folder, 'client.ts'), CLIENT)
    const compile = () =>
      execFileSync(
        tsc,
        [
          '--ignoreConfig',
          ...[
            '--noEmit',
            '--strict',
            '--exactOptionalPropertyTypes',
            '--allowImportingTsExtensions',
          ],
          ...['--target', 'es2022', '--module', 'preserve', '--types', ''],
          'client.ts',
        ],
        { cwd: folder, encoding: 'utf8', stdio: 'pipe' },
      )
    let errors = ''
    try {
      compile()
    } catch (error) {
      errors = (error as { stdout: string }).stdout
    }
    expect(errors).toBe('')
  } finally {
    await close()
    rmSync(folder, { recursive: true })
  }
})
