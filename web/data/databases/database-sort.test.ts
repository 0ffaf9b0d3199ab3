import { expect, test } from 'vitest'
import type { DatabaseRow } from './database-rows.ts'
import { type DatabaseSort, nextSort, sortRows, toSort } from './database-sort.ts'

const row = (name: string, documents: number | null): DatabaseRow => ({
  name,
  collections: null,
  documents,
  bytes: documents,
  measured: null,
  mapped: [],
  open: [],
})
const rows = [row('a10', 3), row('b', null), row('a9', 3), row('c', 12)]

test.each<[DatabaseSort, string[]]>([
  ['name', ['a9', 'a10', 'b', 'c']],
  ['-name', ['c', 'b', 'a10', 'a9']],
  ['documents', ['a9', 'a10', 'c', 'b']],
  ['-documents', ['c', 'a9', 'a10', 'b']],
])('sorts by %s with numeric figures and uncounted databases last', (sort, names) => {
  expect(sortRows(rows, sort).map(({ name }) => name)).toEqual(names)
})

test('the first click sorts figures descending, the second ascending', () => {
  expect(nextSort('name', 'size')).toBe('-size')
  expect(nextSort('-size', 'size')).toBe('size')
  expect(nextSort('-size', 'name')).toBe('name')
  expect(nextSort('name', 'name')).toBe('-name')
})

test('reads a sort order, by name if it is none', () => {
  expect(['size', '-size', 'colour', '', undefined].map(toSort)).toEqual([
    'size',
    '-size',
    'name',
    'name',
    'name',
  ])
})
