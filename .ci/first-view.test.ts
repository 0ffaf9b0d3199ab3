import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'

const BUILT = fileURLToPath(new URL('../dist/console/', import.meta.url))

/** Returns the number and size (gzip, kB) of the scripts that a document loads at first. */
function scriptsOf(document: string) {
  const html = readFileSync(`${BUILT}${document}`, 'utf8')
  const files = [...html.matchAll(/(?:src|href)="\/_console\/([^"]+\.js)"/g)].map(
    ([, file]) => file,
  )
  expect(files.length).toBeGreaterThan(1)
  // Over plain HTTP from another machine, browsers support gzip only.
  const sizes = files.map((file) => gzipSync(readFileSync(`${BUILT}${file}`)).length)
  return { count: files.length, gzip: sizes.reduce((sum, size) => sum + size, 0) / 1000 }
}

// Reads the output of the build stage, or of `vite build`. e2e/session.spec.ts counts everything
// that a browser loads.
describe('The built console', () => {
  test('loads at most 15 scripts and 200 kB before Endpoints is shown', () => {
    const { count, gzip } = scriptsOf('index.html')
    expect(count).toBeLessThanOrEqual(15)
    expect(gzip).toBeLessThanOrEqual(200)
  })

  test('loads at most 110 kB of JavaScript for the sign-in page', () => {
    expect(scriptsOf('sign-in.html').gzip).toBeLessThanOrEqual(110)
  })
})
