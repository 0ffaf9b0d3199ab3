import { expect, test } from 'vitest'
import { type EndpointRow, joinRows } from '../model/endpoint-rows.ts'
import { FIRST_SORT } from '../model/endpoint-sort.ts'
import { keepPositions, nextSort, positionsOf, sortRows } from './use-displayed-rows.ts'

const rowsOf = (...ports: number[]) =>
  joinRows(
    ports.map((port) => ({ endpoint: `tcp://a:${port}`, databases: [] })),
    [],
  )
const portsOf = (rows: readonly EndpointRow[]) =>
  rows.map(({ address }) => Number(address.split(':').at(-1)))

test('sorted rows are returned unchanged', () => {
  const rows = rowsOf(1, 2, 3)
  const arranged = keepPositions(rows, positionsOf(rows))
  expect(arranged).toEqual({ rows, fresh: 0, moved: false })
  expect(arranged.rows).toBe(rows)
})

test('new rows are appended, and other rows do not move', () => {
  const arranged = keepPositions(rowsOf(1, 2, 3, 4, 5), positionsOf(rowsOf(2, 4)))
  expect(portsOf(arranged.rows)).toEqual([2, 4, 1, 3, 5])
  expect(arranged).toMatchObject({ fresh: 3, moved: false })
})

test('new rows that sort last are in order', () => {
  const rows = rowsOf(2, 4, 5)
  expect(keepPositions(rows, positionsOf(rowsOf(2, 4)))).toEqual({ rows, fresh: 0, moved: false })
})

test('rows keep their positions while the order is outdated', () => {
  const arranged = keepPositions(rowsOf(1, 2, 3).toReversed(), positionsOf(rowsOf(1, 2, 3)))
  expect(portsOf(arranged.rows)).toEqual([1, 2, 3])
  expect(arranged).toMatchObject({ fresh: 0, moved: true })
})

test('a row that reappears keeps its position', () => {
  const positions = positionsOf(rowsOf(1, 2, 3))
  expect(portsOf(keepPositions(rowsOf(1, 3), positions).rows)).toEqual([1, 3])
  expect(portsOf(keepPositions(rowsOf(1, 2, 3), positions).rows)).toEqual([1, 2, 3])
})

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
