import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { CONSOLE_INPUTS } from './hash-console-inputs.js'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Replaces Vite: empties the folder, and writes there unless a source says to fail. */
const VITE = `
import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
export async function build({ root }) {
  appendFileSync(root + '/builds', 'x')
  rmSync(root + '/dist/console', { recursive: true, force: true })
  mkdirSync(root + '/dist/console', { recursive: true })
  if (readFileSync(root + '/web/main.ts', 'utf8').includes('fail')) throw new Error('broken source')
  writeFileSync(root + '/dist/console/index.html', '')
}
`

let folder: string
const at = (name: string) => path.join(folder, name)

function write(name: string, content: string): void {
  mkdirSync(path.dirname(at(name)), { recursive: true })
  writeFileSync(at(name), content)
}

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-build-'))
  for (const name of [
    'bin/needs-node.js',
    'tools/build-console.js',
    'tools/hash-console-inputs.js',
  ]) {
    cpSync(path.join(root, name), at(name))
  }
  write('package.json', '{"type":"module"}')
  write('node_modules/vite/package.json', '{"type":"module","exports":"./index.js"}')
  write('node_modules/vite/index.js', VITE)
  write('node_modules/.package-lock.json', '{}')
  write('web/main.ts', 'one')
  write('web/page/page.tsx', '')
})

afterEach(() => rmSync(folder, { recursive: true, force: true }))

const run = () => spawnSync(process.execPath, [at('tools/build-console.js')], { encoding: 'utf8' })

/** Returns the number of builds so far. */
const builds = () => (existsSync(at('builds')) ? readFileSync(at('builds'), 'utf8').length : 0)

describe('the console', () => {
  test('is built once from the same sources', () => {
    expect(run()).toMatchObject({ status: 0, stdout: '', stderr: '' })
    expect(run()).toMatchObject({ status: 0, stdout: '', stderr: '' })
    expect(builds()).toBe(1)
  })

  test.each([
    [
      'a source with the same size and time',
      () => {
        const { atime, mtime } = statSync(at('web/main.ts'))
        write('web/main.ts', 'two')
        utimesSync(at('web/main.ts'), atime, mtime)
      },
    ],
    ['a new source', () => write('web/page/new.ts', '')],
    ['a removed source', () => rmSync(at('web/page/page.tsx'))],
    ['a file outside the sources of the console', () => write('server/failure.ts', '')],
    ['an installed package', () => write('node_modules/.package-lock.json', '{"packages":{}}')],
    ['the removal of the build', () => rmSync(at('dist'), { recursive: true })],
  ])('is built again after a change: %s', (_, change) => {
    run()
    change()
    expect(run()).toMatchObject({ status: 0 })
    expect(builds()).toBe(2)
  })

  test('is built again after a build that failed', () => {
    run()
    write('web/main.ts', 'fail')
    expect(run()).toMatchObject({ status: 1, stderr: expect.stringContaining('broken source') })
    write('web/main.ts', 'one')
    expect(run()).toMatchObject({ status: 0 })
    expect(builds()).toBe(3)
    expect(existsSync(at('dist/console/index.html'))).toBe(true)
  })

  test.each([
    ['is missing', () => rmSync(at('node_modules'), { recursive: true })],
    [
      'lacks its native part',
      () =>
        write(
          'node_modules/vite/index.js',
          "throw new Error('Cannot find native binding. Remove package-lock.json.')",
        ),
    ],
  ])('is not built if Vite %s, and one sentence says what to run', (_, change) => {
    change()
    const { status, stdout, stderr } = run()
    expect(stderr).toMatch(
      /^The console cannot be built, because packages are missing \(Cannot find (?:package 'vite' imported from \S+|native binding)\): run npm ci --include=dev --include=optional with Node\.js 20\.19\+ or 22\.12\+\.\n$/,
    )
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
  })

  test('is built from no file that is not an input', () => {
    const isInput = (file: string) =>
      CONSOLE_INPUTS.some((input) => file === input || file.startsWith(`${input}/`))
    const sources = globSync(
      ['web/**/*.{ts,tsx}', 'server/{contract/**/*,failure}.ts', '*.config.ts', 'tools/*.ts'],
      {
        cwd: root,
      },
    ).filter((file) => isInput(file) && !/\.(?:test|testing)\./.test(file))
    expect(sources.length).toBeGreaterThan(100)
    const others = sources.flatMap((source) => {
      const text = readFileSync(path.join(root, source), 'utf8')
      return [...text.matchAll(/(?:^(?:import|export)(?! type)[^']*?|\bimport\()'(\.[^']+)'/gm)]
        .map(([, name = '']) => path.join(path.dirname(source), name))
        .filter((file) => !isInput(file))
        .map((file) => `${source} imports ${file}`)
    })
    expect(others).toEqual([])
  })
})
