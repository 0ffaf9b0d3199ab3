import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatErrors } from './import-errors.ts'
import { previewSource, splitCsv, toValue } from './preview.ts'
import { detectFormat, splitArray } from './read-source.ts'

test.each([
  ['a.csv', '[1]', 'csv'],
  ['a.jsonl', '', 'ndjson'],
  ['a.json', '\uFEFF\n [', 'json'],
  ['a.json', '{"id":"1"}', 'ndjson'],
  ['', '{"id":"1"}', 'ndjson'],
  ['', 'id,title', 'csv'],
])('The format of %j that begins with %j is %s', (name, begin, format) => {
  expect(detectFormat(name, begin)).toBe(format)
})

test('An array is split into its elements, however it is printed', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), fc.constantFrom(undefined, 2, '\t'), (array, space) => {
      const elements = splitArray(JSON.stringify(array, null, space)) ?? []
      expect(elements.map((element) => JSON.stringify(JSON.parse(element)))).toEqual(
        array.map((element) => JSON.stringify(element)),
      )
      expect(elements.join('')).not.toContain('\n')
    }),
  )
})

test('Numbers of an array are kept as they are written', () => {
  expect(splitArray('[{"n": 12345678901234567890}, {"n": 1.0}]')).toEqual([
    '{"n":12345678901234567890}',
    '{"n":1.0}',
  ])
  expect(splitArray('{"a":[1]}')).toBeUndefined()
})

test('CSV is split into cells, quoted or not', () => {
  expect(splitCsv('a,"b ""c""\nd"\r\n\r\n1,\n', 9)).toEqual([
    ['a', 'b "c"\nd'],
    ['1', ''],
  ])
})

test.each([
  ['5', 5],
  ['007', '007'],
  ['true', true],
  ['"a"', '"a"'],
  ['{"a":1}', { a: 1 }],
  ["'=1+1", '=1+1'],
  ["''=1", "'=1"],
  ["'a", "'a"],
])('The cell %j is the value %j', (cell, value) => {
  expect(toValue(cell)).toEqual(value)
})

test('A preview shows the first documents and the types of their fields', () => {
  expect(previewSource('id,n,tags\n1,2,\n2,x,"[1]"\n3,cut o', 'csv', false)).toEqual({
    fields: [
      { field: 'id', types: 'text' },
      { field: 'n', types: 'number, text' },
      { field: 'tags', types: 'array' },
    ],
    documents: [
      { id: '1', n: 2 },
      { id: '2', n: 'x', tags: [1] },
    ],
    error: undefined,
  })
  expect(previewSource('{"a":1}\n\n{"a":', 'ndjson', false).documents).toEqual([{ a: 1 }])
  expect(previewSource('[{"a":1}, 7]', 'json', true)).toMatchObject({
    documents: [{ a: 1 }],
    error: 'Document 2 is not a JSON object.',
  })
  expect(previewSource('{}', 'json', true).error).toMatch(/begins with \[/)
})

test('The list of errors is CSV', () => {
  expect(formatErrors([{ line: 12, pointer: '/a,b', message: 'must be "x"' }])).toBe(
    'line,pointer,message\r\n12,"/a,b","must be ""x"""\r\n',
  )
})
