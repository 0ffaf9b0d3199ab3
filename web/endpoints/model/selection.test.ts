import { expect, test } from 'vitest'
import { joinRows } from './endpoint-rows.ts'
import { formatSelected, selectionState, selectRange, toggleAll, toggleRow } from './selection.ts'

const rows = joinRows(
  [1, 2, 3, 4].map((port) => ({ endpoint: `tcp://a:${port}`, databases: [] })),
  [],
)
const removed = {
  ...rows[0],
  id: 'tcp://a:9 draining',
  address: 'tcp://a:9',
  databases: null,
} as (typeof rows)[0]
const none: ReadonlySet<string> = new Set()
const ports = (selection: ReadonlySet<string>) =>
  [...selection].map((address) => Number(address.split(':').at(-1))).sort()

test('a row is selected and deselected, but never a removed one', () => {
  const [first] = rows
  if (first === undefined) throw new Error('there are rows')
  expect(ports(toggleRow(none, first))).toEqual([1])
  expect(ports(toggleRow(toggleRow(none, first), first))).toEqual([])
  expect(ports(toggleRow(none, removed))).toEqual([])
})

test('a range extends in either direction and keeps the selection', () => {
  expect(ports(selectRange(new Set(['tcp://a:1']), rows, 3, 2))).toEqual([1, 3, 4])
  expect(ports(selectRange(none, [...rows, removed], 3, 4))).toEqual([4])
})

test('select all toggles the shown rows and keeps hidden ones', () => {
  const hidden: ReadonlySet<string> = new Set(['tcp://a:4'])
  const shown = [...rows.slice(0, 2), removed]
  expect(selectionState(hidden, shown)).toBe('none')
  const all = toggleAll(hidden, shown)
  expect(ports(all)).toEqual([1, 2, 4])
  expect(selectionState(all, shown)).toBe('all')
  expect(selectionState(all, rows)).toBe('some')
  expect(ports(toggleAll(all, shown))).toEqual([4])
})

test('hidden selected rows are counted', () => {
  expect(formatSelected(12, 0)).toBe('12 selected')
  expect(formatSelected(12, 3)).toBe('12 selected · 3 of 12 hidden')
})
