import { expect, test } from 'vitest'
import type { EndpointRow } from '../model/endpoint-rows.ts'
import { FIRST_SORT } from '../model/endpoint-sort.ts'
import { nextSort, sortRows } from './use-sorted-rows.ts'

const row = (address: string, databases: string[]) =>
  ({ id: address, address, databases, state: 'listening' }) as unknown as EndpointRow

const rows = [row('a', ['shop']), row('b', ['blog']), row('c', ['shop']), row('d', [])]
const order = (descending: boolean) =>
  sortRows(rows, { column: 'databases', descending }).map(({ address }) => address)

test('sorts equal rows by address in both directions', () => {
  expect(order(false)).toEqual(['d', 'b', 'a', 'c'])
  expect(order(true)).toEqual(['a', 'c', 'b', 'd'])
})

test('sorts mappings in natural order', () => {
  const mapped = [row('a', ['c10']), row('b', ['c9', 'c10']), row('c', ['c9', 'c2'])]
  const sorted = sortRows(mapped, { column: 'databases', descending: false })
  expect(sorted.map(({ address }) => address)).toEqual(['c', 'b', 'a'])
})

test('sorts by address in both directions', () => {
  expect(sortRows(rows, FIRST_SORT)).toBe(rows)
  const turned = sortRows(rows, { column: 'address', descending: true })
  expect(turned.map(({ address }) => address)).toEqual(['d', 'c', 'b', 'a'])
})

test('a header toggles both directions and the default order, with traffic descending first', () => {
  let sort = nextSort('state', FIRST_SORT)
  expect(sort).toEqual({ column: 'state', descending: false })
  sort = nextSort('state', sort)
  expect(sort).toEqual({ column: 'state', descending: true })
  expect(nextSort('state', sort)).toEqual(FIRST_SORT)

  sort = nextSort('rate', sort)
  expect(sort).toEqual({ column: 'rate', descending: true })
  sort = nextSort('rate', sort)
  expect(sort).toEqual({ column: 'rate', descending: false })
  expect(nextSort('rate', sort)).toEqual(FIRST_SORT)
})
