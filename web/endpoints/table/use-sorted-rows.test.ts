import { expect, test } from 'vitest'
import type { EndpointRow } from '../model/endpoint-rows.ts'
import { FIRST_SORT } from '../model/list/endpoint-sort.ts'
import { nextSort, sortRows } from './use-sorted-rows.ts'

const row = (address: string, databases: string[]) =>
  ({ id: address, address, databases, state: 'listening' }) as unknown as EndpointRow

const rows = [row('a', ['shop']), row('b', ['blog']), row('c', ['shop']), row('d', [])]
const order = (descending: boolean) =>
  sortRows(rows, { column: 'databases', descending }).map(({ address }) => address)

test('keeps equal rows in the order of their addresses, whatever the direction', () => {
  expect(order(false)).toEqual(['d', 'b', 'a', 'c'])
  expect(order(true)).toEqual(['a', 'c', 'b', 'd'])
})

test('has rows by address as they come, or the other way round', () => {
  expect(sortRows(rows, FIRST_SORT)).toBe(rows)
  const turned = sortRows(rows, { column: 'address', descending: true })
  expect(turned.map(({ address }) => address)).toEqual(['d', 'c', 'b', 'a'])
})

test('a head goes from one direction to the other, to the first order; traffic begins with the most', () => {
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
