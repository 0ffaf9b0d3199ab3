import { readFileSync } from 'node:fs'
import { afterAll, expect, test } from 'vitest'
import { failureKinds } from '../../failure.ts'
import { openApp } from '../../test-support/app.testing.ts'

// docs/http-api.md must list every route of the application as code, such as `GET /_api/endpoint`.

const { app, close } = await openApp()
afterAll(close)

const page = readFileSync(new URL('../../../docs/http-api.md', import.meta.url), 'utf8')

/** The routes of the application in the notation of the page: `DELETE /_api/endpoint/<address>`. */
const served = app.routes
  .filter(({ method }) => method !== 'ALL')
  .map(({ method, path }) => `${method} ${path.replace(/:([a-z]+)(?:\{[^}]*\})?/g, '<$1>')}`)

const documented = [
  ...page.matchAll(/`((?:GET|POST|PUT|PATCH|DELETE) \/[^`?\s]*)(?:\?endpoint=[^`]*)?`/g),
].map(([, route]) => route)

test('docs/http-api.md documents every route, and no other', () => {
  expect([...new Set(documented)].sort()).toEqual([...new Set(served)].sort())
})

test('docs/http-api.md has an example for every route under /_api and of documents', () => {
  const sections = page.split(/^### /m).filter((section) => /^`[A-Z]+ \//.test(section))
  const without = sections.filter((section) => !section.includes('```sh\ncurl '))
  expect(without.map((section) => section.split('\n')[0])).toEqual([])
  expect(sections.length).toBeGreaterThan(40)
})

test('docs/http-api.md lists every error, with its status, errorNum and id', () => {
  const rows = [...page.matchAll(/^\| (\d{3}) \| (\d+) \| `(\w+)` \|/gm)].map(([, ...row]) =>
    row.join(' '),
  )
  const kinds = Object.values(failureKinds).map(({ status, errorNum, id }) => [
    status,
    errorNum,
    id,
  ])
  expect(rows).toEqual(expect.arrayContaining(kinds.map((kind) => kind.join(' '))))
})
