import { expect, test } from 'vitest'
import { type EndpointRow, joinRows } from '../model/endpoint-rows.ts'
import { keepPositions, positionsOf } from './use-displayed-rows.ts'

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
