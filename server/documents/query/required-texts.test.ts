import fc from 'fast-check'
import { expect, test } from 'vitest'
import { printJson } from '../../contract/json/strict-json.ts'
import { printFieldPath } from '../../contract/query/field-path.ts'
import { createMatcher, OPERATORS, parseFilter, requiredTexts } from './filter.ts'

const texts = (name: string, text: string) => requiredTexts(parseFilter([[name, text]]))

test.each([
  ['author', 'ada', [['"author":"ada"']]],
  ['author.n', '5', [['"n":"5"', '"n":5']]],
  ['author:in', 'a,"', [['"author":"a"', '"author":"\\""']]],
  ['author:in', 'a,b,c,d,e,f,g,h,i', [['"author":']]],
  ['author', 'x'.repeat(100), [[`"author":"${'x'.repeat(54)}`]]],
  ['author', `${'x'.repeat(53)}😀`, [[`"author":"${'x'.repeat(53)}`]]],
  ['author:starts', 'a\n', [['"author":"a\\n']]],
  ['author:contains', '{"a":1}', [['{\\"a\\":1}', '{"a":1}']]],
  ['author:contains', '', [['"author":']]],
  ['author:gte', '5', [['"author":']]],
  ['author:exists', 'true', [['"author":']]],
  ['author:exists', 'false', []],
  ['author:ne', 'ada', []],
])('%s=%s needs texts', (name, text, expected) => {
  expect(texts(name, text)).toEqual(expected)
})

test('the number of texts is limited', () => {
  const conditions = parseFilter(Array.from({ length: 20 }, (_, n) => [`f${n}`, `${n}`]))
  expect(requiredTexts(conditions).flat()).toHaveLength(8)
})

test('each document that matches contains one of each group', () => {
  const word = fc.constantFrom('a', 'b', '', '5', '-1', 'true', 'null', '"', '\\', '\0', 'ü', '[1]')
  const value = fc.oneof(word, fc.integer({ min: -1, max: 5 }), fc.boolean(), fc.constant(null))
  const json = fc.oneof(
    value,
    fc.array(value, { maxLength: 2 }),
    fc.dictionary(fc.constantFrom('a', 'b'), value, { maxKeys: 2 }),
  )
  const document = fc.dictionary(fc.constantFrom('a', 'b', '"', 'ü.x'), json)
  const path = fc.constantFrom(['a'], ['b'], ['"'], ['ü.x'], ['a', 'b'])
  const operator = fc.constantFrom(...OPERATORS.filter((name) => name !== 'exists'))
  const text = fc.oneof(word, json.map(printJson))
  fc.assert(
    fc.property(document, path, operator, text, (body, names, name, other) => {
      const conditions = parseFilter([[`${printFieldPath(names)}:${name}`, other]])
      if (!createMatcher(conditions)(body as never)) return
      const printed = printJson(body as never)
      for (const group of requiredTexts(conditions)) {
        expect(group.some((each) => printed.includes(each))).toBe(true)
      }
    }),
    { numRuns: 2_000 },
  )
})
