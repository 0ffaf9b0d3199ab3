import { expect, test } from 'vitest'
import type { CsvTypes } from '../../../server/contract/import.ts'
import { PREVIEW_BYTES, previewSource } from './preview.ts'
import type { ImportFormat } from './read-source.ts'

const preview = (text: string, format: ImportFormat, isWhole = true) =>
  previewSource(new TextEncoder().encode(text), { format, isWhole })

test('A preview shows the first documents and the types of their fields', () => {
  expect(preview('id,n,tags\n1,2,\n2,x,"[1]"\n3,cut o', 'csv', false)).toEqual({
    fields: [
      { field: 'id', types: 'text' },
      { field: 'n', types: 'number, text' },
      { field: 'tags', types: 'array' },
    ],
    documents: [
      { id: '1', n: 2 },
      { id: '2', n: 'x', tags: [1] },
    ],
    errors: [],
    warning: expect.stringContaining('Columns with mixed types: n (number, text).'),
    isEmpty: false,
  })
  expect(preview('{"a":1}\n\n{"a":', 'ndjson', false).documents).toEqual([{ a: 1 }])
  expect(preview('[{"a":1}, {"a', 'json', false)).toMatchObject({
    documents: [{ a: 1 }],
    errors: [],
    isEmpty: false,
  })
  expect(preview('\uFEFFid\n1\n2\n3\n4\n5\n"6', 'csv')).toMatchObject({
    documents: ['1', '2', '3', '4', '5'].map((id) => ({ id })),
    errors: ['Line 7: A quoted cell has no closing quote.'],
    isEmpty: false,
  })
})

test('A preview warns of columns of CSV with mixed types', () => {
  const warningOf = (text: string, types: CsvTypes = 'auto', format: ImportFormat = 'csv') =>
    previewSource(new TextEncoder().encode(text), { format, isWhole: true, types }).warning
  const codes = `id,a.code,n\n${'1,,1\n'.repeat(9)}2,12E4,null\n3,A1,\n`
  expect(warningOf(codes)).toContain('Columns with mixed types: a.code (number, text).')
  expect(warningOf(codes, 'string')).toBeUndefined()
  expect(warningOf('id,code\n1,"12E4"\n2,00123')).toBeUndefined()
  expect(warningOf('{"n":1}\n{"n":"a"}', 'auto', 'ndjson')).toBeUndefined()
})

test('A preview reads cells that are separated by semicolons or tabs', () => {
  const documents = [{ id: '1', price: '3,50' }]
  expect(preview('id;price\n1;3,50', 'semicolons').documents).toEqual(documents)
  expect(preview('id\tprice\n1\t3,50', 'tabs').documents).toEqual(documents)
})

test('A preview shows fields with the names of properties that every object has', () => {
  expect(preview('{"constructor":"Lotus"}\n{"__proto__":1}', 'ndjson').fields).toEqual([
    { field: 'constructor', types: 'text' },
    { field: '__proto__', types: 'number' },
  ])
})

test.each([
  ['-0', 'text'],
  ['1e400', 'text'],
  ['12345678901234567890', 'text'],
  [' 5', 'text'],
  ['007', 'text'],
  ['[12345678901234567890]', 'text'],
  ["'=1+1", 'text'],
  ['1e3', 'number'],
  ['true', 'true/false'],
  ['null', 'null'],
  ['[1]', 'array'],
  ['{}', 'object'],
])('The cell %j is stored as %s', (cell, types) => {
  expect(preview(`n\n${cell}`, 'csv').fields).toEqual([{ field: 'n', types }])
})

test.each<[ImportFormat, string, string]>([
  ['csv', 'a\n5" disk', 'Line 2: A cell that contains a quote must be quoted'],
  ['csv', 'a\n"a"b', 'Line 2: A cell that contains a quote must be quoted'],
  ['csv', 'a\n1\n"b\n', 'Line 3: A quoted cell has no closing quote.'],
  ['csv', 'a,b\n\n1,2,3', 'Line 3: The line has 3 cells, but the header has 2.'],
  ['csv', 'a,a\n1,2', 'The header is invalid. The column "a" of the header is'],
  ['csv', 'a.b,a\n1,2', 'The header is invalid. The column "a.b" of the header is'],
  ['csv', 'a,\n1,2', 'The header is invalid. The column "" of the header is'],
  ['ndjson', '{"a":1}\n{"a":1,"a":2}', 'Line 2: The key "a" occurs twice.'],
  ['ndjson', '{"a":1}\n{"a"', 'Line 2: This is not JSON.'],
  ['json', '[{"a":1}, 7]', 'Document 2: A document must be a JSON object.'],
  ['json', 'a', 'JSON begins with [ or {.'],
  ['json', '[{"a":1}, {"a', 'The array is not closed'],
  ['json', '{"a":1}]\n{"a":2}', 'Document 2: This is not JSON.'],
  ['json', '{\n"a":\n1 }\n[]', 'Document 2: A document must be a JSON object.'],
  ['json', '[{"a":1 000}]', 'Document 1: This is not JSON.'],
  ['json', '[{"a":"b\nc"}]', 'Document 1: This is not JSON.'],
])('The preview of %s reports what the server rejects in %j', (format, text, error) => {
  expect(preview(text, format).errors[0]).toContain(error)
})

test('A preview shows the documents beside those that the server rejects', () => {
  expect(preview('a\n1\n"x\n', 'csv').documents).toEqual([{ a: 1 }])
  expect(preview('1\n{"a":1}', 'ndjson').documents).toEqual([{ a: 1 }])
})

test('The preview names the page that imports an export of a database', () => {
  const text = '{"gatehouse":1,"database":"blog"}\n{"end":{"collections":0,"documents":0}}\n'
  expect(preview(text, 'ndjson').errors).toEqual([
    'This is an export of a database. Import it on the page of a database.',
  ])
})

test.each<[ImportFormat, string]>([
  ['ndjson', '{"a":"'],
  ['csv', 'a\n'],
  ['json', '[{"a":"'],
])(
  'The preview of %s explains a first document that is longer than the preview',
  (format, text) => {
    const begin = new TextEncoder().encode(text + 'x'.repeat(PREVIEW_BYTES))
    expect(previewSource(begin, { format, isWhole: false })).toEqual({
      fields: [],
      documents: [],
      errors: ['The first document is too long for a preview.'],
      isEmpty: false,
    })
  },
)

test.each([
  [[0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d], 'This is not a text file.'],
  [
    [0xff, 0xfe, 0x69, 0, 0x64, 0, 0x0a, 0],
    'The header is invalid. The line is not UTF-8. Save the file as UTF-8.',
  ],
  [[], 'No documents found.'],
  [[0x0a, 0x20], 'No documents found.'],
])('The preview of the bytes %j is the error %j', (bytes, error) => {
  expect(previewSource(Uint8Array.from(bytes), { format: 'csv', isWhole: true })).toMatchObject({
    documents: [],
    errors: [error],
  })
})

test('The preview lists all errors of the first documents, in the order of their lines', () => {
  const lines = ['{"id":"a"}', '{"id":5}', '[1]', '{"id":"a"}', '{', '{"id":"b"}', '{"id":null}']
  expect(preview(lines.join('\n'), 'ndjson').errors).toEqual([
    'Line 2: An id is a string.',
    'Line 3: A document must be a JSON object.',
    'Line 4: The id "a" is already in line 1.',
    'Line 5: This is not JSON.',
    'Line 7: An id is a string.',
  ])
  expect(preview('[{"id":"a"}, {"id":"a"}]', 'json').errors).toEqual([
    'Document 2: The id "a" is already in document 1.',
  ])
  expect(preview('id\n5\n5', 'csv').errors).toEqual(['Line 3: The id "5" is already in line 2.'])
})

test.each(['skip', 'replace'] as const)(
  'Documents with the same id are no error if the option is to %s them',
  (onConflict) => {
    const begin = new TextEncoder().encode('{"id":"a"}\n{"id":"a"}')
    const options = { format: 'ndjson', isWhole: true, onConflict } as const
    expect(previewSource(begin, options).errors).toEqual([])
  },
)

test.each<[ImportFormat, string]>([
  ['csv', 'Just a text'],
  ['ndjson', '\n'],
  ['json', '[]'],
])('The preview of %s says that %j has no documents', (format, text) => {
  const { isEmpty, errors } = preview(text, format)
  expect(isEmpty).toBe(true)
  expect(errors[0]).toMatch(/^No documents found\./)
})
