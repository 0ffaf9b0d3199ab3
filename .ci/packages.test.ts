import { execFileSync } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { canInstall, INSTALLS_WITH } from '../bin/needs-node.js'
import { root } from './run-command.ts'

interface Manifest {
  dependencies?: Record<string, string>
  devDependencies: Record<string, string>
  optionalDependencies?: Record<string, string>
  allowScripts: Record<string, boolean>
}

interface Locked {
  integrity?: string
  resolved?: string
  optionalDependencies?: Record<string, string>
  hasInstallScript?: boolean
  link?: boolean
  os?: string[]
  cpu?: string[]
  engines?: { node?: string }
}

const read = (file: string) => readFileSync(path.join(root, file), 'utf8')
const manifest = JSON.parse(read('package.json')) as Manifest
const nodes = JSON.parse(read('tools/node/package.json')) as Required<Manifest>
const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, Locked> }
// Without the workspace itself.
const locked = Object.entries(packages).filter(
  ([place]) => place.includes('node_modules/') && !packages[place]?.link,
)

test('docs/dependencies.md states the purpose of every dependency', () => {
  const text = read('docs/dependencies.md')
  const names = Object.keys({
    ...manifest.devDependencies,
    ...nodes.optionalDependencies,
  })
  expect(names.filter((name) => !text.includes(`\`${name}\``))).toEqual([])
})

test('the lock file contains the packages of every platform', () => {
  const missing = locked.flatMap(([name, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies)
      .filter((part) => !locked.some(([other]) => other.endsWith(`node_modules/${part}`)))
      .map((part) => `${name} needs ${part}`),
  )
  expect(missing).toEqual([])
})

test('the lock file has a checksum and no URL for every package', () => {
  expect(locked.length).toBeGreaterThan(100)
  expect(locked.filter(([, { integrity }]) => integrity === undefined)).toEqual([])
  expect(locked.filter(([, { resolved }]) => resolved !== undefined)).toEqual([])
})

describe('the Node.js that npm installs', () => {
  const names = Object.keys(nodes.optionalDependencies)

  test('has the same major version on every platform, and is locked exactly', () => {
    const versions = Object.values(nodes.optionalDependencies)
    expect(names).toHaveLength(5)
    expect(versions.filter((version) => !/^24\.\d+\.\d+$/.test(version))).toEqual([])
  })

  // At the top level, npm would create node_modules/.bin/node, which may not start, and
  // bin/link-node.js could then not run. `npm install --install-strategy=nested` locks a new
  // version below the workspace.
  test('is installed in the folder of its workspace, not at the top', () => {
    const places = locked
      .map(([place]) => place)
      .filter((place) => names.some((name) => place.endsWith(`/${name}`)))
    expect(places).toEqual(names.map((name) => `tools/node/node_modules/${name}`))
  })
})

/** Returns whether a range such as `^20.19.0 || >=22` contains all patch versions of a minor one. */
const isInRange = (major: number, minor: number, range: string) =>
  range.split('||').some((part) => {
    const form = /^\s*(?<operator>\^|>=)\s*(?<from>\d+(?:\.\d+){0,2})\s*$/.exec(part)?.groups
    if (form === undefined) throw new Error(`The test does not support the range ${range}.`)
    const [fromMajor = 0, fromMinor = 0, patch = 0] = (form.from ?? '').split('.').map(Number)
    if (major !== fromMajor) return form.operator === '>=' && major > fromMajor
    return minor > fromMinor || (minor === fromMinor && patch === 0)
  })

// npm leaves out a package of the machine's platform, without an error, if its Node.js is not in the
// range of the package.
test('the stated versions of Node.js are those with which npm installs the packages of every platform', () => {
  const ranges = new Set(
    locked
      .map(([, each]) => each)
      .filter(({ os, cpu }) => (os ?? cpu) !== undefined && !cpu?.includes('wasm32'))
      .map(({ engines }) => engines?.node ?? '>=0'),
  )
  expect(ranges.size).toBeGreaterThan(1)
  const minors = Array.from({ length: 40 }, (_, minor) => minor)
  const stated: string[] = []
  for (const major of [18, 19, 20, 21, 22, 23, 24, 25, 26]) {
    const installed = minors.filter((minor) =>
      [...ranges].every((range) => isInRange(major, minor, range)),
    )
    const accepted = minors.filter((minor) => canInstall(`v${major}.${minor}.0`))
    expect([major, accepted]).toEqual([major, installed])
    if (installed[0]) stated.push(`${major}.${installed[0]}+`)
  }
  expect(INSTALLS_WITH).toBe(`Node.js ${stated.join(' or ')}`)
  expect(read('README.md')).toContain(`You need ${INSTALLS_WITH}, npm and git.`)
})

test.each([
  ['dev', { NODE_ENV: 'production' }],
  ['optional', { npm_config_omit: 'optional' }],
])('npm installs %s dependencies of a checkout with %j', (type, env) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-npmrc-'))
  try {
    cpSync(path.join(root, '.npmrc'), path.join(folder, '.npmrc'))
    mkdirSync(path.join(folder, 'part'))
    writeFileSync(path.join(folder, 'part/package.json'), '{"name":"part"}')
    const dependencies = { [`${type}Dependencies`]: { part: 'file:part' } }
    writeFileSync(path.join(folder, 'package.json'), JSON.stringify(dependencies))
    execFileSync('npm', ['install', '--offline', '--no-audit'], {
      cwd: folder,
      env: { ...process.env, ...env },
      shell: process.platform === 'win32',
    })
    expect(readdirSync(path.join(folder, 'node_modules'))).toContain('part')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('the packed package installs no other package, because its bundle contains them', () => {
  expect(manifest.dependencies).toBeUndefined()
  expect(manifest.optionalDependencies).toBeUndefined()
})

test('every install script is explicitly allowed or denied', () => {
  const scripts = locked
    .filter(([, { hasInstallScript }]) => hasInstallScript)
    .map(([place]) => place.replace(/^.*node_modules\//, ''))
  expect(Object.keys(manifest.allowScripts).sort()).toEqual(scripts.sort())
})
