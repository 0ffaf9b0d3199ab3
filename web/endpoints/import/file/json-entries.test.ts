import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readEntries } from './json-entries.ts'

describe('reading a JSON array by its entries', () => {
  test('tells each entry and its line', () => {
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
    ['', 1, 1, 'The text ends here. A list of endpoints begins with [.'],
    ['{"endpoint": 1}', 1, 1, 'A list of endpoints begins with [.'],
    ['[\n {"a": 1}\n {"a": 2}\n]', 3, 2, 'A comma is missing here.'],
    ['[\n 1,\n]', 2, 3, 'Nothing follows this comma.'],
    ['[{"a": 1,}]', 1, 9, 'Nothing follows this comma.'],
    ['[{a: 1}]', 1, 3, 'This is not a JSON value. Texts and keys have double quotes.'],
    ['[{1: 1}]', 1, 3, 'A key in double quotes is missing here.'],
    ['[{"a" 1}]', 1, 7, 'A colon is missing here.'],
    ['[{"a": }]', 1, 8, 'A value is missing here.'],
    ["['a']", 1, 2, 'This is not a JSON value. Texts and keys have double quotes.'],
    ['["a\nb"]', 1, 2, 'This text in quotes has no end, or a stray sign.'],
    ['[01]', 1, 3, 'A comma is missing here.'],
    ['[1', 1, 3, 'The text ends here. A comma or ] is missing here.'],
    ['[] []', 1, 4, 'The list has ended, and more follows.'],
  ])('tells where and why not: %s', (text, line, column, message) => {
    expect(readEntries(text)).toEqual({ ok: false, error: { line, column, message } })
  })

  test('does not run out of stack on a text that is nested without end', () => {
    const error = { line: 1, column: 101, message: 'This is nested too deeply.' }
    expect(readEntries('['.repeat(50_000))).toEqual({ ok: false, error })
  })

  test('takes what JSON.parse takes, and nothing else', () => {
    const cut = fc.tuple(fc.json({ maxDepth: 4 }), fc.nat(), fc.string({ maxLength: 2 }))
    const mutated = cut.map(([json, at, more]) => {
      const place = at % (json.length + 1)
      return json.slice(0, place) + more + json.slice(place + more.length)
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
