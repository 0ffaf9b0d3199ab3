import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

// docs/security.md names a test for each defense. This test checks that those tests exist.

const root = new URL('../../..', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, root), 'utf8')
const readAny = (path: string) => {
  for (const place of ['server/', '']) {
    try {
      return read(place + path)
    } catch {
      // Try the next folder.
    }
  }
  return undefined
}

/** The threats, each with its defense and its test files, with the test names quoted from them. */
const rows = read('docs/security.md')
  .split('\n')
  .filter((line) => /^\| [^-]/.test(line) && !line.startsWith('| threat '))
  .map((line) => {
    const [threat = '', defense = '', tests = ''] = line.slice(2).split(' | ')
    return { threat, defense, tests }
  })

const filesIn = (cell: string) =>
  [...cell.matchAll(/`([\w./-]+\.ts)`([^`]*)/g)].map(([, file = '', rest = '']) => ({
    file,
    quoted: [...rest.matchAll(/"([^"]+)"/g)].map(([, name = '']) => name),
  }))

test('docs/security.md names defenses and tests that exist, in every row', () => {
  const lost: string[] = []
  for (const { threat, defense, tests } of rows) {
    const proofs = filesIn(tests)
    if (proofs.length === 0) lost.push(`${threat}: names no test`)
    for (const { file } of filesIn(defense)) {
      if (readAny(file) === undefined) lost.push(`${threat}: no file ${file}`)
    }
    for (const { file, quoted } of proofs) {
      const text = readAny(file)?.replaceAll("\\'", "'")
      if (!/\.(?:test|spec)\.ts$/.test(file) && !file.startsWith('e2e/'))
        lost.push(`${file}: no test`)
      if (text === undefined) lost.push(`${threat}: no file ${file}`)
      // Three dots stand for an omitted part of a test name.
      for (const part of quoted.flatMap((name) => name.split('…'))) {
        if (!text?.includes(part.trim())) lost.push(`${threat}: no "${part.trim()}" in ${file}`)
      }
    }
  }
  expect(lost).toEqual([])
  expect(rows.length).toBeGreaterThan(30)
})
