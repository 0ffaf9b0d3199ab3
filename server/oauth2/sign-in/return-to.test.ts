import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { returnPath } from './return-to.ts'

describe('returnPath', () => {
  test.each([
    ['/', '/'],
    ['/_console/endpoints?filter=a#b', '/_console/endpoints?filter=a#b'],
    ['/a/../b', '/b'],
    ['/%2f%2fevil.example', '/%2f%2fevil.example'],
    ['/@evil.example', '/@evil.example'],
    ['/a\\b', '/a/b'],
    ['/\u2028/evil.example', '/%E2%80%A8/evil.example'],
  ])('%j leads to %j', (text, path) => {
    expect(returnPath(text)).toBe(path)
  })

  test.each([
    undefined,
    '',
    'https://evil.example/',
    '//evil.example',
    '///evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    '\\/evil.example',
    'http://gatehouse.invalid/evil',
    '/\t/evil.example',
    '/\n/evil.example',
    '\t//evil.example',
    ' //evil.example',
    '/a\\..\\..\\/evil.example',
    '/.//evil.example',
    '/..//evil.example',
    '/a/..//evil.example',
    '/%2e//evil.example',
    'javascript:alert(1)',
    'data:text/html,x',
    'evil.example',
    '@evil.example',
    `/${'a'.repeat(2_048)}`,
  ])('%j leads to the root', (text) => {
    expect(returnPath(text)).toBe('/')
  })

  const piece = fc.constantFrom(
    '/',
    '\\',
    '.',
    '..',
    '@',
    ':',
    '?',
    '#',
    '%2f',
    '%5c',
    '%2e',
    '%09',
    '\t',
    '\r',
    '\n',
    '\0',
    ' ',
    'http:',
    'https://',
    'javascript:',
    'evil.example',
    '[::1]',
    'é',
    '\u2028',
    '／',
  )
  const text = fc.oneof(
    fc.array(piece, { maxLength: 8 }).map((parts) => parts.join('')),
    fc.array(piece, { maxLength: 8 }).map((parts) => `/${parts.join('')}`),
    fc.string({ unit: 'binary' }),
    fc.webUrl(),
  )
  test('never changes the origin, for any path or absolute URL', () => {
    fc.assert(
      fc.property(text, (given) => {
        const path = returnPath(given)
        for (const origin of ['https://gate.example.org', 'http://127.0.0.1:8529']) {
          expect(new URL(path, origin).origin).toBe(origin)
          expect(new URL(origin + path).origin).toBe(origin)
        }
        expect(returnPath(path)).toBe(path)
      }),
      { numRuns: 1_000 },
    )
  })
})
