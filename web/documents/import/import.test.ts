import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { createArraySplitter, toLines } from './array-splitter.ts'
import { formatErrors } from './import-errors.ts'
import { previewSource, splitCsv, toValue } from './preview.ts'
import { detectFormat } from './read-source.ts'

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

/** Splits a text in parts of these sizes, and the rest at once. */
function splitParts(text: string, sizes: readonly number[]): string {
  const { write, end } = createArraySplitter()
  let [lines, at] = ['', 0]
  for (const size of [...sizes, text.length]) {
    lines += write(text.slice(at, at + size))
    at += size
  }
  return lines + end()
}

test('An array is split into its elements, however it is printed and read', () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 9 }))
  const space = fc.constantFrom(undefined, 2, '\t')
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), space, sizes, (array, indent, parts) => {
      const lines = splitParts(`\uFEFF ${JSON.stringify(array, null, indent)} ,7`, parts)
      expect(lines).toBe(array.map((element) => `${JSON.stringify(element)}\n`).join(''))
    }),
  )
})

test('The elements of an array are kept as they are written, with its errors', () => {
  const split = (text: string) => splitParts(text, [])
  expect(split('[{"n": 12345678901234567890}, {"n": 1.0}]')).toBe(
    '{"n":12345678901234567890}\n{"n":1.0}\n',
  )
  expect(split('[{"a": 1},, 7 "b\nc')).toBe('{"a":1}\n7"b c\n')
})

test('A large array becomes lines, and other text is rejected', async () => {
  const { signal } = new AbortController()
  // Its characters cross the borders of the parts that are read.
  const array = Array.from({ length: 20_000 }, (_, n) => ({ n, text: 'é'.repeat(50) }))
  const lines = await toLines(new Blob([JSON.stringify(array)]), signal)
  expect(await lines.text()).toBe(array.map((each) => `${JSON.stringify(each)}\n`).join(''))
  await expect(toLines(new Blob(['{"a":[1]}']), signal)).rejects.toThrow('begins with [')
  await expect(toLines(new Blob([]), signal)).rejects.toThrow('begins with [')
  await expect(toLines(new Blob(['[]']), AbortSignal.abort())).rejects.toThrow('abort')
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
  expect(previewSource('id,n\n1,2\n2,3,4', 'csv', true).error).toBe(
    'Document 2 has 3 cells, but the header has 2.',
  )
})

test('The list of errors is CSV', () => {
  expect(formatErrors([{ line: 12, pointer: '/a,b', message: 'must be "x"' }])).toBe(
    'line,pointer,message\r\n12,"/a,b","must be ""x"""\r\n',
  )
})
