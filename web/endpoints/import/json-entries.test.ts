import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readEntries } from './json-entries.ts'

describe('reading the entries of a JSON array', () => {
  test('returns each entry and its line', () => {
    expect(readEntries('\uFEFF[\n  {"a": [1, {"b": "]"}]},\n\n  "two", 3\r\n]\n')).toEqual({
      ok: true,
      entries: [
        { value: { a: [1, { b: ']' }] }, line: 2 },
        { value: 'two', line: 4 },
        { value: 3, line: 4 },
      ],
    })
  })

  test.each([
    ['', 1, 1, 'The text ends here. A list of endpoints must begin with [.'],
    ['{"endpoint": 1}', 1, 1, 'A list of endpoints must begin with [.'],
    ['[\n {"a": 1}\n {"a": 2}\n]', 3, 2, 'Expected a comma.'],
    ['[\n 1,\n]', 2, 3, 'Trailing commas are not allowed.'],
    ['[{"a": 1,}]', 1, 9, 'Trailing commas are not allowed.'],
    ['[{a: 1}]', 1, 3, 'Invalid value. Strings and keys need double quotes.'],
    ['[{1: 1}]', 1, 3, 'Expected a key in double quotes.'],
    ['[{"a" 1}]', 1, 7, 'Expected a colon.'],
    ['[{"a": }]', 1, 8, 'Expected a value.'],
    ["['a']", 1, 2, 'Invalid value. Strings and keys need double quotes.'],
    ['["a\nb"]', 1, 2, 'The string is not closed or contains an invalid character.'],
    ['[01]', 1, 3, 'Expected a comma.'],
    ['[1', 1, 3, 'The text ends here. Expected a comma or ].'],
    ['[] []', 1, 4, 'Unexpected text after the end of the list.'],
  ])('reports the position and reason of an error: %s', (text, line, column, message) => {
    expect(readEntries(text)).toEqual({ ok: false, error: { line, column, message } })
  })

  test('does not overflow the stack on deep nesting', () => {
    const error = { line: 1, column: 101, message: 'The nesting is too deep.' }
    expect(readEntries('['.repeat(50_000))).toEqual({ ok: false, error })
  })

  test('accepts exactly what JSON.parse accepts', () => {
    const mutations = fc.tuple(fc.json({ maxDepth: 4 }), fc.nat(), fc.string({ maxLength: 2 }))
    const mutated = mutations.map(([json, at, more]) => {
      const position = at % (json.length + 1)
      return json.slice(0, position) + more + json.slice(position + more.length)
    })
    fc.assert(
      fc.property(fc.oneof(fc.json({ maxDepth: 4 }), mutated), (json) => {
        const text = `[${json}]`
        const parsed = attempt(text)
        const read = readEntries(text)
        expect(read.ok).toBe(parsed !== undefined)
        if (read.ok) expect(read.entries.map(({ value }) => value)).toEqual(parsed)
      }),
      { numRuns: 500 },
    )
  })
})

function attempt(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
