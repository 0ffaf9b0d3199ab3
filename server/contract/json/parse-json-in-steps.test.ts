import * as fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { runSteps } from '../run-steps.ts'
import { KEYS } from './json-limits.ts'
import { PIECE_LENGTH, parseJsonInSteps } from './parse-json-in-steps.ts'

/** Returns the printed value of a text, or undefined if it is malformed. */
function printed(parse: () => unknown): string | undefined {
  try {
    return JSON.stringify(parse())
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return undefined
  }
}

const expectSame = (text: string, pieceLength: number) =>
  expect(printed(() => runSteps(parseJsonInSteps(text, pieceLength)))).toBe(
    printed(() => JSON.parse(text)),
  )

const value = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom(1, -0.5, null, true, '', ',', '"', '\\', ']', '{', ' : '),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(fc.constantFrom('a', 'b', '1', '0', ',', '}', '[', '__proto__'), tie('value'), {
      maxKeys: 5,
      noNullPrototype: true,
    }),
  ),
})).value

const pieceLength = fc.integer({ min: 1, max: 20 })

test('returns any value that was printed, for pieces of any length', () => {
  fc.assert(
    fc.property(value, pieceLength, fc.constantFrom(0, 1), (each, length, indent) => {
      expectSame(JSON.stringify(each, undefined, indent), length)
    }),
    { numRuns: 1_000 },
  )
})

test('accepts and rejects the same texts as JSON.parse, for pieces of any length', () => {
  const edit = fc.record({
    at: fc.nat(60),
    removed: fc.nat(3),
    added: fc.constantFrom(
      '',
      ',',
      ' ',
      '[',
      ']',
      '{',
      '}',
      ':',
      '"',
      '\\',
      '1',
      'a',
      '"a":',
      '{}',
    ),
  })
  fc.assert(
    fc.property(value, pieceLength, edit, (each, length, { at, removed, added }) => {
      const text = JSON.stringify(each)
      expectSame(text.slice(0, at) + added + text.slice(at + removed), length)
    }),
    { numRuns: 5_000 },
  )
})

test.each([
  '',
  '  ',
  ' [ ] ',
  '[[1],]',
  '[[1] [2]]',
  '[,[1]]',
  '[1,[2]]',
  '[1 [2]]',
  '[[1],2,]',
  '[[1}]',
  '{"a":[1]',
  '{"a":[1]}}',
  '{"a":[1],}',
  '{"a" [1]}',
  '{[1]}',
  '{"a":1,"a":[1],"a":2}',
  '{"b":[1],"a":[1],"b":[2]}',
  '{"\\u005f_proto__":[1]}',
  '{"a":1}{"a":[1]}',
  '[1],[2]',
  '1,2',
  '"[',
])('agrees with JSON.parse on %j', (text) => {
  for (const length of [1, 2, 3, 5, 8]) expectSame(text, length)
})

test.each([
  ['an object with many keys', fields(KEYS)],
  ['objects with different keys', `[${Array.from({ length: 60_000 }, (_, n) => `{"k${n}":1}`)}]`],
  [
    'large structures in large structures',
    `{"a":[[${'1,'.repeat(90_000)}0],{"b":${fields(9_000)}}]}`,
  ],
])('parses %s in short steps', (_what, text) => {
  const parse = vi.spyOn(JSON, 'parse')
  try {
    const steps = parseJsonInSteps(text)
    let length = 0
    for (let step = steps.next(); !step.done; step = steps.next()) {
      length = Math.max(
        length,
        parse.mock.calls.reduce((sum, [each]) => sum + each.length, 0),
      )
      parse.mockClear()
    }
    expect(length).toBeLessThan(PIECE_LENGTH + 100)
  } finally {
    parse.mockRestore()
  }
})

function fields(count: number): string {
  return `{${Array.from({ length: count }, (_, n) => `"key-${n}":${n}`)}}`
}
