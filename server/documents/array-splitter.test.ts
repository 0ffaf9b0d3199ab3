import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DOCUMENT_BYTES } from '../contract/document.ts'
import { ArraySplitter } from './array-splitter.ts'

/** Returns the elements of a text that arrives in chunks of `size` bytes. */
function split(text: string, size = Infinity): string[] {
  const bytes = Buffer.from(text)
  const splitter = new ArraySplitter()
  const elements: Uint8Array[] = []
  for (let at = 0; at < bytes.length; at += Math.min(size, bytes.length)) {
    elements.push(...splitter.push(bytes.subarray(at, at + size)))
  }
  splitter.end()
  return elements.map((each) => Buffer.from(each).toString())
}

/** Splits a text and parses each element, as reading documents does. */
const parsed = (text: string, size?: number) => split(text, size).map((each) => JSON.parse(each))

describe('ArraySplitter', () => {
  it.each([
    '[]',
    ' [ ] ',
    '[1]',
    '[1 ,-2.5e3\n,true,null , "x"]',
    '[[1,[2,{"a":[3]}]],{"b":"]"},"\\"]","\\\\",""]\n',
    '[{"a":"x\\\\\\"],["},{}]',
    '[{"ü":"💾\\ud83d"}]',
  ])('returns the elements of %s for any chunk boundaries', (text) => {
    for (const size of [1, 2, 3, 7, Infinity]) expect(parsed(text, size)).toEqual(JSON.parse(text))
  })

  it('keeps none of the small chunks of an element', () => {
    const splitter = new ArraySplitter()
    const chunks = ['["', 'a', 'b', 'c'].map((each) => Buffer.from(each))
    for (const chunk of chunks) {
      expect(splitter.push(chunk)).toEqual([])
      chunk.fill('-')
    }
    const [element] = splitter.push(Buffer.from('"]'))
    expect(Buffer.from(element ?? []).toString()).toBe('-abc"')
  })

  it('returns the elements of every array', () => {
    fc.assert(
      fc.property(
        fc.array(fc.jsonValue()),
        fc.constantFrom(undefined, 1, '\t'),
        fc.integer({ min: 1, max: 50 }),
        (values, space, size) => {
          const text = JSON.stringify(values, null, space)
          expect(parsed(text, size)).toEqual(JSON.parse(text))
        },
      ),
    )
  })

  it.each([
    '',
    '[',
    '[1',
    '[1,]',
    '[,1]',
    '[1,,2]',
    '[1}',
    '[1]]',
    '[1],[2]',
    '[1 2]',
    '["a" "b"]',
    '["a""b"]',
    '[{}{}]',
    '[{}[]]',
    '[{]}]',
    '[{]',
    '["a]',
    '["\\"]',
    '[1] x',
    '[}]',
    '{}',
    '{"a":1}',
    '1',
    'x[]',
    '[]\u00a0',
    '\ufeff[]',
  ])('rejects %j, which is not an array', (text) => {
    expect(() => JSON.parse(text)?.map(String)).toThrow()
    for (const size of [1, Infinity]) expect(() => parsed(text, size)).toThrow()
  })

  it('accepts exactly what JSON.parse accepts as an array', () => {
    const token = fc.constantFrom(...'[]{},:"\\ 1a'.split(''), '"a"', '{}', '[]', ',{},')
    fc.assert(
      fc.property(fc.array(token), fc.integer({ min: 1, max: 4 }), (tokens, size) => {
        const text = `[${tokens.join('')}`
        const expected = attempt(() => JSON.parse(text))
        expect(attempt(() => parsed(text, size))).toEqual(expected)
      }),
      { numRuns: 1_000 },
    )
  })

  it('rejects an element of more than 1 MiB before it is complete', () => {
    const largest = `"${'x'.repeat(DOCUMENT_BYTES - 2)}"`
    expect(split(`[${largest},${largest}]`, 65_536)).toEqual([largest, largest])
    const splitter = new ArraySplitter()
    splitter.push(Buffer.from(`[${largest},"`))
    const rejected = expect.objectContaining({ code: 'too-large' })
    expect(() => splitter.push(Buffer.from('x'.repeat(DOCUMENT_BYTES)))).toThrow(rejected)
    expect(() => split(`[${largest.replace('"', '"x')}]`)).toThrow(rejected)
    // Whitespace inside an element counts; whitespace between elements does not.
    expect(() => split(`[{${' '.repeat(DOCUMENT_BYTES - 1)}}]`)).toThrow(rejected)
    expect(split(`[1,${' '.repeat(DOCUMENT_BYTES * 2)}2]`, 65_536)).toEqual(['1', '2'])
  })
})

const attempt = (read: () => unknown): unknown => {
  try {
    return read()
  } catch {
    return 'no array'
  }
}
