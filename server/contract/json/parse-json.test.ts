import { gzipSync } from 'node:zlib'
import * as fc from 'fast-check'
import { expect, it, test, vi } from 'vitest'
import { decodeBody, parseJson } from './parse-json.ts'

/** Prints a value with each character of its strings as an escape. */
const printEscaped = (value: unknown): string =>
  JSON.stringify(value).replace(/"(?:[^"\\]|\\.)*"/g, (text) => {
    const codes = [...Array(JSON.parse(text).length).keys()].map((at) =>
      JSON.parse(text).charCodeAt(at).toString(16).padStart(4, '0'),
    )
    return `"${codes.map((code) => `\\u${code}`).join('')}"`
  })

test.each([
  ['{"a":1,"\\\\":1}', '{"a":1,"\\n":1}', { a: 1, '\n': 1 }],
  ['{"b":1,"\\\\n":1}', '{"b":1,"\\nX":1}', { b: 1, '\nX': 1 }],
  ['{"c":1,"x\\\\":1}', '[{"c":1,"x\\n" : {"y":"\\n"}}]', [{ c: 1, 'x\n': { y: '\n' } }]],
  ['{"d":1,"\\\\u":1}', '{"d":1,"\\u540d\\u540e":1}', { d: 1, 名后: 1 }],
])('after %s, %s has its own keys', (before, text, expected) => {
  // The objects of earlier requests.
  JSON.parse(before)
  parseJson(before)
  expect(parseJson(text)).toEqual(expected)
})

test('returns any value that was printed, however its strings are written', () => {
  const key = fc.string({
    unit: fc.constantFrom('\\', 'n', 'u', '"', '\n', '名', '1'),
    maxLength: 3,
  })
  const object = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      key,
      fc.constantFrom(1, null, true),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(key, tie('value'), { maxKeys: 4, noNullPrototype: true }),
    ),
  }))
  fc.assert(
    fc.property(object.value, (value) => {
      expect(parseJson(JSON.stringify(value))).toEqual(value)
      expect(parseJson(printEscaped(value))).toEqual(value)
      expect(parseJson(JSON.stringify(value, undefined, 2))).toEqual(value)
    }),
    { numRuns: 500 },
  )
})

test('an escaped key can be __proto__ or an index, and keeps its place', () => {
  const parsed = parseJson('{"b":1,"\\u005f_proto__":{"x":1},"\\u0061":2,"\\u0031":3}')
  expect(JSON.stringify(parsed)).toBe('{"1":3,"b":1,"__proto__":{"x":1},"a":2}')
})

test.each(['{"\\x":1}', '{"a\\n', '{"\\n":1,}', '\\{"a":1}', '{"a\\":1}', '"\\', '{"\\n"\n\n1}'])(
  '%j is malformed',
  (text) => {
    expect(() => parseJson(text)).toThrow(SyntaxError)
  },
)

test('accepts and rejects the same texts as JSON.parse', () => {
  const token = fc.constantFrom(
    ...'{}[]:," \\1-n\t'.split(''),
    '"a"',
    '"\\u0062":',
    'null',
    '-0.5e3',
  )
  fc.assert(
    fc.property(fc.array(token, { maxLength: 6 }), fc.boolean(), (tokens, isClosed) => {
      const text = `{"\\n":${tokens.join('')}${isClosed ? '}' : ''}`
      expect(printed(() => parseJson(text))).toBe(printed(() => JSON.parse(text)))
    }),
    { numRuns: 1_000 },
  )
})

/** Returns the printed value of a text, or undefined if it is malformed. */
function printed(parse: () => unknown): string | undefined {
  try {
    return JSON.stringify(parse())
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return undefined
  }
}

test('reads a text with many escaped keys once', () => {
  const text = JSON.stringify(Array(1_000).fill({ '\n': 1 }))
  const parse = vi.spyOn(JSON, 'parse')
  try {
    parseJson(text)
    const lengths = parse.mock.calls.map(([each]) => each.length)
    expect(lengths.reduce((sum, each) => sum + each)).toBeLessThanOrEqual(text.length)
  } finally {
    parse.mockRestore()
  }
})

it('returns the text as it was sent, with a byte order mark', () => {
  expect(decodeBody(Buffer.from('\ufeff{"é":1}'))).toBe('\ufeff{"é":1}')
})

it.each([
  ['is not UTF-8', Buffer.from([0x22, 0xff, 0x22]), 'The body is not UTF-8.'],
  ['is gzip', gzipSync('{}'), 'The body is gzip. Send Content-Encoding: gzip.'],
])('rejects a body that %s', (_what, bytes, message) => {
  expect(() => decodeBody(bytes)).toThrow(expect.objectContaining({ code: 'bad-json', message }))
})
