import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'

const BUILT = fileURLToPath(new URL('../dist/console/', import.meta.url))

/** The scripts that a document loads before anything is shown, gzip, in kB. */
function scriptsOf(document: string): number {
  const html = readFileSync(`${BUILT}${document}`, 'utf8')
  const files = [...html.matchAll(/(?:src|href)="\/_console\/([^"]+\.js)"/g)].map(
    ([, file]) => file,
  )
  expect(files.length).toBeGreaterThan(1)
  const sizes = files.map((file) => gzipSync(readFileSync(`${BUILT}${file}`)).length)
  return sizes.reduce((sum, size) => sum + size, 0) / 1000
}

// As the stage before has built it, or `vite build`.
describe('The built console', () => {
  test('loads at most 200 kB of JavaScript before Endpoints is shown', () => {
    expect(scriptsOf('index.html')).toBeLessThanOrEqual(200)
  })

  test('loads at most 110 kB of JavaScript for the sign-in page', () => {
    expect(scriptsOf('sign-in.html')).toBeLessThanOrEqual(110)
  })
})
