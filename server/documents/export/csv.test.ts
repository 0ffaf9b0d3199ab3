import fc from 'fast-check'
import { expect, it } from 'vitest'
import { CSV_SEPARATORS, type CsvSeparator } from '../../contract/import.ts'
import { parseJson } from '../../contract/json/parse-json.ts'
import type { FieldPath } from '../../contract/query/field-path.ts'
import { CSV_COLUMNS } from '../../contract/records/csv-record.ts'
import type { ImportRecord } from '../../contract/records/import-record.ts'
import { readRecords } from '../import/read-records.ts'
import { CsvColumns, columnsOf, createCsvFormat } from './csv.ts'

const separators = Object.keys(CSV_SEPARATORS) as CsvSeparator[]

const COMMA = { separator: 'comma', rawCells: false } as const

const rowOf = (value: string, rawCells = false) =>
  createCsvFormat([['a']], { ...COMMA, rawCells })
    .row(JSON.stringify({ a: value }))
    .slice(0, -2)

it.each([
  ['plain', 'plain'],
  ['a,b', '"a,b"'],
  ['say "hi"', '"say ""hi"""'],
  ['two\nlines', '"two\nlines"'],
  ['=1+1', "'=1+1"],
  ['+1', "'+1"],
  ['-1', "'-1"],
  ['@sum', "'@sum"],
  ['\tx', "'\tx"],
  ['\rx', '"\'\rx"'],
  ['\nx', '"\'\nx"'],
  ['＝1+1', "'＝1+1"],
  ['＋1', "'＋1"],
  ['－1', "'－1"],
  ['＠sum', "'＠sum"],
  ["'=1", "''=1"],
  ["it's", "it's"],
  ["'quoted'", "'quoted'"],
  ['', ''],
])('writes the string %j as %s', (value, cell) => {
  expect(rowOf(value)).toBe(cell)
})

it('leaves cells unchanged if requested, and quotes them', () => {
  expect(rowOf('=1+1', true)).toBe('=1+1')
  expect(rowOf('=A1,"B"', true)).toBe('"=A1,""B"""')
})

it('writes other values as JSON, and missing fields as empty cells', () => {
  const { header, row } = createCsvFormat(
    [['id'], ['n'], ['b'], ['z'], ['o'], ['p', 'x'], ['p', 'y', 'z'], ['none'], ['=f']],
    COMMA,
  )
  expect(header).toBe("id,n,b,z,o,p.x,p.y.z,none,'=f\r\n")
  const o = { x: [1, '2'] }
  const p = { y: { x: 1, z: '=z' }, ...o }
  expect(row(JSON.stringify({ n: -5, b: true, z: null, p, o, id: 'one' }))).toBe(
    'one,-5,true,null,"{""x"":[1,""2""]}","[1,""2""]",\'=z,,\r\n',
  )
  expect(row('{"id":"two","p":[{"x":1}]}')).toBe('two,,,,,,,,\r\n')
  expect(row('{}')).toBe(',,,,,,,,\r\n')
})

it('takes columns from documents in the order of their fields, after id', () => {
  const columns = new CsvColumns()
  columns.add('{"b":1,"id":"x","a.b":1}')
  columns.add('{"id":"y","c":1,"b":1}')
  expect(columns.paths).toEqual([['id'], ['b'], ['a.b'], ['c']])
  expect(createCsvFormat(columns.paths, COMMA).header).toBe('id,b,a\\.b,c\r\n')
  expect(columnsOf([['b'], ['id'], ['a', 'id'], ['b']])).toEqual([['id'], ['b'], ['a', 'id']])
})

it.each([
  ['a field', [['a'], ['b'], ['a', 'b']], 'a.b'],
  [
    'a field that follows',
    [
      ['a', 'b', 'c'],
      ['a', 'b'],
    ],
    'a.b.c',
  ],
  ['the id', [['id', 'a']], 'id.a'],
])('rejects a field that is part of %s', (_, fields, name) => {
  expect(() => columnsOf(fields)).toThrow(
    expect.objectContaining({
      code: 'bad-parameter',
      message: `"${name}" is part of another field. Select only one of them for CSV.`,
      details: { field: 'fields' },
    }),
  )
})

it('quotes a name that is empty', () => {
  const headerOf = (...columns: FieldPath[]) => createCsvFormat(columns, COMMA).header
  expect(headerOf(['id'], [''], ['a', ''])).toBe('id,"","a."\r\n')
  expect(headerOf(['', '=', '"'])).toBe('".=."""\r\n')
})

it('rejects documents with too many different fields', () => {
  const columns = new CsvColumns()
  const rejection = expect.objectContaining({ code: 'bad-parameter', details: { field: 'fields' } })
  for (let at = 1; at < CSV_COLUMNS.names; at++) columns.add(`{"f${at}":1}`)
  expect(() => columns.add('{"one":1}')).toThrow(rejection)
  const name = 'x'.repeat(CSV_COLUMNS.characters - 'id'.length)
  expect(() => new CsvColumns().add(`{"${name}":1}`)).not.toThrow()
  expect(() => new CsvColumns().add(`{"${name}":1,"y":1}`)).toThrow(rejection)
})

it.each(separators)('is read back by an import, with the separator %s', (separator) => {
  const text = fc.string({
    unit: fc.constantFrom("'", '=', '-', '＠', '\t', '\r', '\n', '"', ',', ';', ' ', 'a', '5'),
  })
  const name = fc.string({
    unit: fc.constantFrom(...'=+@-.:,;"\\\t\r\na '),
  })
  const fields = fc.dictionary(
    name,
    text.filter((each) => each !== ''),
    { noNullPrototype: true },
  )
  return fc.assert(
    fc.asyncProperty(fields, async (document) => {
      const columns = new CsvColumns()
      columns.add(JSON.stringify(document))
      const { header, row } = createCsvFormat(columns.paths, { separator, rawCells: false })
      const stored = { id: '1', ...document }
      const other = { id: ' ' }
      async function* file() {
        yield Buffer.from(header + row(JSON.stringify(stored)) + row(JSON.stringify(other)))
      }
      const records: ImportRecord[] = []
      for await (const part of readRecords(file(), 'csv', { separator })) records.push(...part)
      const texts = records.map((record) => 'text' in record && parseJson(record.text))
      expect(texts).toEqual([stored, other])
    }),
  )
})
