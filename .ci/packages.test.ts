import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { root } from './run-command.ts'

interface Manifest {
  dependencies: Record<string, string>
  devDependencies: Record<string, string>
  optionalDependencies: Record<string, string>
}

interface Locked {
  integrity?: string
  resolved?: string
  optionalDependencies?: Record<string, string>
}

const read = (file: string) => readFileSync(path.join(root, file), 'utf8')
const manifest = JSON.parse(read('package.json')) as Manifest
const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, Locked> }
const locked = Object.entries(packages).filter(([name]) => name !== '')

test('every package that is asked for has a line saying what for', () => {
  const text = read('docs/dependencies.md')
  const names = Object.keys({
    ...manifest.dependencies,
    ...manifest.devDependencies,
    ...manifest.optionalDependencies,
  })
  expect(names.filter((name) => !text.includes(`\`${name}\``))).toEqual([])
})

test('the lock file names the packages of every platform, not only of the one that wrote it', () => {
  const missing = locked.flatMap(([name, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies)
      .filter((part) => !locked.some(([other]) => other.endsWith(`node_modules/${part}`)))
      .map((part) => `${name} needs ${part}`),
  )
  expect(missing).toEqual([])
})

test('the lock file has a checksum for every package and the address of none', () => {
  expect(locked.length).toBeGreaterThan(100)
  expect(locked.filter(([, { integrity }]) => integrity === undefined)).toEqual([])
  expect(locked.filter(([, { resolved }]) => resolved !== undefined)).toEqual([])
})

test('npm brings the same Node.js to every platform', () => {
  const versions = Object.entries(manifest.optionalDependencies)
    .filter(([name]) => name.startsWith('node-'))
    .map(([, version]) => version)
  expect(versions).toHaveLength(4)
  expect(new Set(versions).size).toBe(1)
  expect(versions[0]).toMatch(/^\d+\.\d+\.\d+$/)
})
