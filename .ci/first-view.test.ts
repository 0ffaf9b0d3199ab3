import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'

const BUILT = fileURLToPath(new URL('../dist/console/', import.meta.url))

/** The scripts of a document, and of the chunk that has a module of a page, with their imports. */
function scriptsOf(document: string, chunk?: string) {
  const html = readFileSync(`${BUILT}${document}`, 'utf8')
  const files = new Set<string>()
  const add = (file: string) => {
    if (files.has(file)) return
    files.add(file)
    const text = readFileSync(`${BUILT}${file}`, 'utf8')
    for (const [, imported] of text.matchAll(/(?:from|import)\s*"\.\/([^"]+\.js)"/g))
      add(`assets/${imported}`)
  }
  for (const [, file] of html.matchAll(/(?:src|href)="\/_console\/([^"]+\.js)"/g)) add(`${file}`)
  expect(files.size).toBeGreaterThan(1)
  if (chunk !== undefined) {
    const names = readdirSync(`${BUILT}assets`).filter(
      (name) => name.startsWith(`${chunk}-`) && name.endsWith('.js'),
    )
    expect(names).toHaveLength(1)
    add(`assets/${names[0]}`)
  }
  // Over plain HTTP from another machine, browsers support gzip only.
  const sizes = [...files].map((file) => gzipSync(readFileSync(`${BUILT}${file}`)).length)
  return { count: files.size, gzip: sizes.reduce((sum, size) => sum + size, 0) / 1000 }
}

// Reads the output of the build stage, or of `vite build`. e2e/session.spec.ts counts everything
// that a browser loads.
describe('The built console', () => {
  test.each([
    // The target of the other pages is 250 kB. The documents, the map and the requests exceed it.
    ['overview-page', 15, 175],
    ['endpoints-table', 15, 200],
    ['map-page', 20, 260],
    ['requests-page', 20, 260],
    ['certificates-page', 20, 250],
    ['data-page', 20, 250],
    ['collection-page', 20, 260],
    ['webhooks-page', 20, 250],
    ['people-page', 20, 250],
    ['tokens-page', 20, 250],
    ['providers-page', 20, 250],
    ['activity-page', 20, 250],
    ['me-page', 20, 250],
  ])('before it shows %s, loads at most %i scripts and %i kB', (chunk, mostScripts, most) => {
    const { count, gzip } = scriptsOf('index.html', chunk)
    expect(count).toBeLessThanOrEqual(mostScripts)
    expect(gzip).toBeLessThanOrEqual(most)
  })

  test('loads at most 110 kB of JavaScript for the sign-in page', () => {
    expect(scriptsOf('sign-in.html').gzip).toBeLessThanOrEqual(110)
  })
})
