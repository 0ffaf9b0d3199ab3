import fc from 'fast-check'
import { expect, it, vi } from 'vitest'
import type { Json } from '../contract/json/json.ts'
import { printJson } from '../contract/json/strict-json.ts'
import { parseFields } from './read-fields.ts'

const text = fc.oneof(fc.constantFrom('"', '\\', '\\"', '}', ',', '[{', '\ud83d'), fc.string())
const leaf = fc.oneof(text, fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean())
const list = fc.array(fc.oneof(leaf, fc.constantFrom<Json>(null, {}, [], [{}, []])))
const value: fc.Arbitrary<Json> = fc.oneof(leaf, list, fc.record({ a: list, b: leaf }))
const name = fc.oneof(fc.constantFrom('a', '"', '\\', '__proto__', '', '1', '\ud83d'), fc.string())

it('returns the fields with some names, in the order of the document', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.tuple(name, value), { selector: ([each]) => each, maxLength: 8 }),
      fc.array(fc.nat({ max: 8 }), { maxLength: 4 }),
      fc.nat({ max: 8 }),
      (entries, selected, at) => {
        // Only a large document is parsed in part.
        const all = entries.toSpliced(at, 0, ['large', 'x'.repeat(20_000)])
        const document = Object.fromEntries(all)
        const names = new Set(selected.map((each) => all[each % all.length]?.[0] ?? ''))
        const expected = Object.entries(document).filter(([each]) => names.has(each))
        const parsed = parseFields(printJson(document), names)
        expect(printJson(Object.entries(parsed as object))).toEqual(printJson(expected))
      },
    ),
  )
})

it('parses no other field of a large document', () => {
  const body = printJson({ id: '1', list: Array(20_000).fill({}), a: { b: 1 } })
  const parse = vi.spyOn(JSON, 'parse')
  const parsed = parseFields(body, new Set(['id', 'a']))
  const texts = parse.mock.calls.map(([text]) => text)
  parse.mockRestore()
  expect(parsed).toEqual({ id: '1', a: { b: 1 } })
  expect(texts).toEqual(['"1"', '{"b":1}'])
})
