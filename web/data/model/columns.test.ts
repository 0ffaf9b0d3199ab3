import { expect, test } from 'vitest'
import { printFieldPath } from '../../../server/contract/query/field-path.ts'
import {
  fitColumns,
  formatColumns,
  initialColumns,
  parseColumns,
  placeColumns,
  rankFields,
  resizeColumn,
} from './columns.ts'
import { fieldLabel, fieldsOf, namesOf, valueAt } from './field-path.ts'
import { formatCell } from './format-cell.ts'
import { describeSort, formatSort, parseSort, toggleSort } from './sort.ts'

test('Columns are the same after they were written to the URL', () => {
  const columns = [{ field: 'title', width: 240 }, { field: 'a\\,b.c\\:d' }]
  expect(parseColumns(formatColumns(columns))).toEqual(columns)
  expect(parseColumns('title:9999,,title,x:0,y:wide')).toEqual([
    { field: 'title' },
    { field: 'x' },
    { field: 'y' },
  ])
  expect(parseColumns('title:5000')).toEqual([{ field: 'title', width: 960 }])
})

const widthsOf = (columns: Parameters<typeof placeColumns>[0], room: number) =>
  placeColumns(
    columns,
    new Map([
      ['id', 112],
      ['year', 104],
    ]),
    room,
  ).map(({ field, width }) => `${field}:${width}`)

test('Columns without a width of their own share the remaining width', () => {
  const columns = [
    { field: 'title' },
    { field: 'year' },
    { field: 'note' },
    { field: 'x', width: 200 },
  ]
  expect(widthsOf(columns, 1016)).toEqual(['id:112', 'title:300', 'year:104', 'note:300', 'x:200'])
  expect(widthsOf(columns, 600)).toEqual(['id:112', 'title:160', 'year:104', 'note:160', 'x:200'])
  expect(widthsOf([{ field: 'year' }, { field: 'id', width: 300 }], 900)).toEqual([
    'id:300',
    'year:104',
  ])
})

test('A resized column keeps its place, and the id gets one', () => {
  const columns = [{ field: 'title' }, { field: 'year' }, { field: 'note' }, { field: 'x' }]
  const placed = placeColumns(
    columns,
    new Map([
      ['id', 112],
      ['year', 104],
    ]),
    816,
  )
  expect(resizeColumn(columns, placed, 'note', 20)).toEqual([
    { field: 'title', width: 200 },
    { field: 'year' },
    { field: 'note', width: 64 },
    { field: 'x' },
  ])
  expect(resizeColumn(columns, placed, 'id', 300)).toEqual([
    { field: 'id', width: 300 },
    ...columns,
  ])
})

test.each([
  ['the longest number', [12_345_678_901_234, 1, null], 144],
  ['at least', [1, undefined], 104],
  ['not text', [1, '2'], undefined],
  ['not null alone', [null, undefined], undefined],
])('The width of a column of numbers fits %s', (_, values, width) => {
  const documents = values.map((n, at) => ({ id: `${at}`, n }))
  expect(fitColumns(['n'], documents).get('n')).toBe(width)
})

test('The width of the ids fits the longest, within limits', () => {
  expect(fitColumns([], [{ id: 'a' }]).get('id')).toBe(104)
  expect(fitColumns([], [{ id: 'a' }, { id: 'x'.repeat(26) }]).get('id')).toBe(240)
  expect(fitColumns([], [{ id: 'x'.repeat(250) }]).get('id')).toBe(320)
})

test.each([
  [['author', 'name'], 'author.name'],
  [['author.name'], '"author.name"'],
  [['a', 'b.c'], 'a."b.c"'],
  [['price, EUR'], 'price, EUR'],
  [['-a:b\\'], '-a:b\\'],
  [['5" disk'], '"5\\" disk"'],
  [[' '], '" "'],
])('The field %j is shown as %s', (path, label) => {
  expect(fieldLabel(printFieldPath(path))).toBe(label)
})

const documents = [
  { id: '1', title: 'One', author: { name: 'ada', 'born.in': 1815 } },
  { id: '2', year: 2000, tags: ['a'] },
]

test('Top-level fields are ranked by the number of documents that have them', () => {
  const one = Object.fromEntries(Array.from({ length: 120 }, (_, at) => [`field${at}`, at]))
  const ranked = rankFields([{ id: '0', ...one }, ...documents, { id: '3', year: 1, 'a.b': 2 }])
  expect(ranked.slice(0, 2)).toEqual(['year', 'field0'])
  expect(ranked.slice(-4)).toEqual(['title', 'author', 'tags', 'a\\.b'])
  expect(ranked).not.toContain('id')
  expect(fieldsOf(documents)).toContain('author.born\\.in')
})

test.each([
  [[], ['a', 'b', 'c', 'd', 'e', 'f']],
  [
    ['id', 'f', 'f'],
    ['a', 'b', 'c', 'd', 'e', 'f'],
  ],
  [
    ['x.y', 'g'],
    ['a', 'b', 'c', 'd', 'g', 'x.y'],
  ],
  [
    ['1', '2', '3', '4', '5', '6', '7'],
    ['1', '2', '3', '4', '5', '6', '7'],
  ],
])('With a filter or an order by %j, the first columns are %j', (used, columns) => {
  const ranked = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
  expect(initialColumns(ranked, used).map(({ field }) => field)).toEqual(columns)
})

test('A field with special characters in its names leads to its value', () => {
  for (const field of fieldsOf(documents)) expect(printFieldPath(namesOf(field))).toBe(field)
  expect(documents.map((document) => valueAt(document, 'author.born\\.in'))).toEqual([
    1815,
    undefined,
  ])
  expect(valueAt({ id: '1', a: null }, 'a.b')).toBeUndefined()
  expect(valueAt({ id: '1' }, 'constructor')).toBeUndefined()
})

test.each([
  [undefined, '–', 'missing'],
  ['', '', 'text'],
  ['7', '7', 'text'],
  ['one\r\ntwo\tthree', 'one two three', 'text'],
  [7, '7', 'number'],
  [true, 'true', 'boolean'],
  ['2026-02-30T25:00:00Z', '2026-02-30T25:00:00Z', 'text'],
  [null, 'null', 'json'],
  [{ a: [1] }, '{"a":[1]}', 'json'],
  [`${'x'.repeat(199)}😀`, `${'x'.repeat(199)}…`, 'text'],
])('The value %j has the cell %j', (value, text, kind) => {
  expect(formatCell(value)).toEqual({ text, kind })
})

test.each([
  ['', 'year', false, 'year'],
  ['year', 'year', false, '-year'],
  ['-year', 'year', false, ''],
  ['title', 'year', false, 'year'],
  ['title', 'year', true, 'title,year'],
  ['title,year', 'title', true, '-title,year'],
  ['-title,year', 'title', true, 'year'],
])('The order %j becomes, by %j (extend: %j), %j', (sort, field, extend, next) => {
  expect(formatSort(toggleSort(parseSort(sort), field, extend))).toBe(next)
})

test('An order is described with the direction of each field', () => {
  const isolated = (name: string) => `\u2068${name}\u2069`
  expect(describeSort(parseSort('-author.name,id'))).toBe(
    `${isolated('author.name')}, descending, then ${isolated('id')}, ascending`,
  )
})

test('A time is shown in the zone of the browser, with its exact text on hover', () => {
  const { kind, text, tip } = formatCell('2026-11-30T12:11:28.741Z')
  expect(kind).toBe('time')
  expect(text).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:28$/)
  expect(tip).toContain('2026-11-30T12:11:28.741Z')
})
