import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { checkLayers, readSource } from './layers.testing.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

const sources = globSync('{server,web}/**/*.{ts,tsx}', { cwd: root }).map((file) =>
  file.split(path.sep).join('/'),
)

describe('the imports of this code', () => {
  test('go one way', () => {
    expect(sources.length).toBeGreaterThan(10)
    const violations = sources.flatMap((file) =>
      checkLayers(file, readFileSync(path.join(root, file), 'utf8')),
    )
    expect(violations).toEqual([])
  })
})

describe('reading imports', () => {
  test.each([
    [
      "import a, { b } from './x.ts'",
      { specifier: './x.ts', typeOnly: false, names: ['default', 'b'] },
    ],
    ["import * as a from './x.ts'", { specifier: './x.ts', typeOnly: false, names: ['*'] }],
    ["import './x.ts'", { specifier: './x.ts', typeOnly: false, names: ['*'] }],
    ["import type { A } from './x.ts'", { specifier: './x.ts', typeOnly: true, names: ['A'] }],
    [
      "import { type A, b } from './x.ts'",
      { specifier: './x.ts', typeOnly: false, names: ['A', 'b'] },
    ],
    ["import { a as b } from './x.ts'", { specifier: './x.ts', typeOnly: false, names: ['a'] }],
    ["export { a as b } from './x.ts'", { specifier: './x.ts', typeOnly: false, names: ['a'] }],
    ["export type { A } from './x.ts'", { specifier: './x.ts', typeOnly: true, names: ['A'] }],
    ["export * from './x.ts'", { specifier: './x.ts', typeOnly: false, names: ['*'] }],
    ["export * as x from './x.ts'", { specifier: './x.ts', typeOnly: false, names: ['*'] }],
    ["const f = () => import('./x.ts')", { specifier: './x.ts', typeOnly: false, names: ['*'] }],
    ['await import(`./x.ts`)', { specifier: './x.ts', typeOnly: false, names: ['*'] }],
    ["type A = import('./x.ts').A", { specifier: './x.ts', typeOnly: true, names: ['*'] }],
    ["import x = require('./x.ts')", { specifier: './x.ts', typeOnly: false, names: ['*'] }],
    ["require('./x.ts')", { specifier: './x.ts', typeOnly: false, names: ['*'] }],
    [
      "new Worker(new URL('./x.ts', import.meta.url))",
      { specifier: './x.ts', typeOnly: false, names: ['*'] },
    ],
    ["await import('./' + name)", { specifier: undefined, typeOnly: false, names: ['*'] }],
    ["import.meta.glob('./*.ts')", { specifier: undefined, typeOnly: false, names: ['*'] }],
  ])('%s', (source, expected) => {
    expect(readSource('server/a.ts', source).imports).toEqual([expected])
  })

  test.each([
    "// import './x.ts'",
    "const text = `import './x.ts'`",
    "new URL('./picture.png', import.meta.url)",
    'export { a }; const a = 1',
  ])('finds none in: %s', (source) => {
    expect(readSource('server/a.ts', source).imports).toEqual([])
  })

  test.each([
    ['process.exit(1)', true],
    ['const { env } = process', true],
    ['globalThis.process.env', true],
    ["globalThis['process']", true],
    ["import { env } from 'node:process'", true],
    ['if (typeof process !== "undefined") {}', true],
    ['job.process()', false],
    ['const job = { process: 1 }', false],
    ['interface Job { process(): void }', false],
    ['// process', false],
  ])('sees whether process is touched: %s', (source, touches) => {
    expect(readSource('server/a.ts', source).touchesProcess).toBe(touches)
  })

  test('fails on what it cannot parse, instead of finding nothing', () => {
    expect(() => readSource('server/a.ts', 'import from')).toThrow(SyntaxError)
  })
})

describe('the table of layers', () => {
  test.each([
    ['server/main.ts', "import './start.ts'; process.exit(0)"],
    ['server/main.ts', "import './command-line.ts'; import './endpoint-command.ts'"],
    ['server/endpoint-command.ts', "import './endpoints/repository.ts'"],
    [
      'server/start.ts',
      "import './app.ts'; import './storage/open.ts'; import './endpoints/registry.ts'",
    ],
    ['server/app.ts', "import { Hono } from 'hono'; import './endpoints/routes.ts'"],
    [
      'server/endpoints/routes.ts',
      "import { Hono } from 'hono'; import './registry.ts'; import '../http/guard.ts'",
    ],
    ['server/endpoints/registry.ts', "import './repository.ts'; import '../contract/endpoint.ts'"],
    [
      'server/endpoints/repository.ts',
      "import 'kysely'; import type { Tables } from '../storage/tables.ts'",
    ],
    ['server/storage/open.ts', "import './sqlite.ts'; import './postgres.ts'"],
    ['server/storage/backup/restore.ts', "import '../sqlite-files.ts'; import '../postgres.ts'"],
    ['server/storage/sqlite.ts', "import 'node:sqlite'; import './sqlite-driver.ts'"],
    [
      'server/contract/a.ts',
      "import * as z from 'zod/mini'; import './b.ts'; import '../failure.ts'",
    ],
    ['server/oauth2/sign-in.ts', "import './client.ts'"],
    ['web/api.ts', "import type { Api } from '../server/app.ts'; import { hc } from 'hono/client'"],
    [
      'web/endpoints/form.tsx',
      "import { a } from '../../server/contract/endpoint.ts'; import '../ui/x.tsx'; import './x.css'",
    ],
    ['web/router.tsx', "import('./endpoints/page.tsx')"],
    ['server/endpoints/registry.test.ts', "import '../storage/sqlite.ts'; process.exit(1)"],
  ])('allows in %s: %s', (file, source) => {
    expect(checkLayers(file, source)).toEqual([])
  })

  test.each([
    ['server/failure.ts', "import './contract/a.ts'", 'failure may not import contract'],
    [
      'server/storage/open.ts',
      "import type { A } from '../endpoints/address.ts'",
      'storage may not import noun',
    ],
    ['server/endpoints/registry.ts', "import './routes.ts'", 'noun may not import routes'],
    [
      'server/endpoints/registry.ts',
      "import type { App } from '../app.ts'",
      'noun may not import app',
    ],
    [
      'server/endpoints/registry.ts',
      "import '../databases/registry.ts'",
      'nouns do not import each other',
    ],
    [
      'server/endpoints/routes.ts',
      "export * from '../databases/registry.ts'",
      'nouns do not import each other',
    ],
    ['server/endpoints/routes.ts', "import '../storage/open.ts'", 'routes may not import storage'],
    ['server/app.ts', "await import('./start.ts')", 'app may not import start'],
    ['server/http/guard.ts', "import '../endpoints/registry.ts'", 'http may not import noun'],
    [
      'server/endpoints/registry.ts',
      "import type { Context } from 'hono'",
      'only routes, http and app know Hono',
    ],
    ['server/start.ts', "import '@hono/node-server'", 'only routes, http and app know Hono'],
    [
      'server/storage/migrate.ts',
      "import './sqlite.ts'",
      'only storage/open.ts chooses the engine',
    ],
    [
      'server/storage/postgres.ts',
      "import './sqlite-driver.ts'",
      'only storage/open.ts chooses the engine',
    ],
    [
      'server/start.ts',
      "import './storage/postgres.ts'",
      'only storage/open.ts chooses the engine',
    ],
    [
      'server/endpoints/repository.ts',
      "import pg from 'pg'",
      'only storage knows the database engines',
    ],
    ['server/oauth2/client.ts', "import '../failure.ts'", 'oauth2-client may not import failure'],
    ['server/contract/a.ts', "import * as z from 'zod'", 'contract knows only zod/mini'],
    ['server/contract/a.ts', "import 'node:fs'", 'contract knows only zod/mini'],
    ['server/endpoint-command.ts', "import './start.ts'", 'command may not import start'],
    ['server/endpoint-command.ts', 'process.exit(1)', 'touches process'],
    ['server/start.ts', "import './endpoint-command.ts'", 'start may not import command'],
    ['server/config.ts', 'export const home = process.env.HOME', 'touches process'],
    ['server/start.ts', "import { env } from 'node:process'", 'touches process'],
    ['server/start.ts', "import './layers.testing.ts'", 'which is for tests'],
    ['server/start.ts', "import './app'", 'which has no ending'],
    ['server/start.ts', "import '#app'", 'paths are relative here'],
    ['server/start.ts', 'await import(name)', 'computed'],
    ['server/start.ts', "import '../web/api.ts'", 'start may not import web'],
    ['server/start.ts', "import '../bench/load.ts'", 'no place in the table'],
    ['server/helpers.ts', '', 'no place in the table'],
    ['web/api.ts', "import { type Api, createApp } from '../server/app.ts'", 'only its type Api'],
    ['web/api.ts', "import type { Deps } from '../server/app.ts'", 'only its type Api'],
    ['web/router.tsx', "import type { Api } from '../server/app.ts'", 'web may not import app'],
    [
      'web/endpoints/page.tsx',
      "import { Failure } from '../../server/failure.ts'",
      'web-feature may not import failure',
    ],
    [
      'web/endpoints/page.tsx',
      "import '../databases/queries.ts'",
      'features do not import each other',
    ],
    ['web/endpoints/page.tsx', "import '../router.tsx'", 'which imports the features'],
    ['web/endpoints/page.tsx', "import 'hono/client'", 'only routes, http and app know Hono'],
    ['web/ui/table.tsx', "import '../api.ts'", 'web-ui may not import web'],
    ['web/main.tsx', "import 'node:fs'", 'in a browser'],
  ])('refuses in %s: %s', (file, source, rule) => {
    expect(checkLayers(file, source)).toEqual([expect.stringContaining(rule)])
  })
})
