import { useMemo } from 'react'
import type { SortHead } from '../ui/sort-head-cell.tsx'
import type { EndpointRow } from './endpoint-rows.ts'
import {
  type EndpointSort,
  FIRST_SORT,
  type SortColumn,
  sortKeys,
  TRAFFIC_COLUMNS,
} from './endpoint-sort.ts'

/** Rows, which come sorted by address, in the order wanted. Equal ones stay in that order. */
export function sortRows(
  rows: readonly EndpointRow[],
  { column, descending }: EndpointSort,
): readonly EndpointRow[] {
  if (column === 'address') return descending ? rows.toReversed() : rows
  const keyOf = sortKeys[column]
  const way = descending ? -1 : 1
  // A key is made once a row, not at each comparison.
  return rows
    .map((row) => ({ row, key: keyOf(row) }))
    .sort((a, b) => (a.key < b.key ? -way : a.key > b.key ? way : 0))
    .map(({ row }) => row)
}

/**
 * What a press of a head makes of the order: the direction that the column begins with, then the
 * other, then the order in which the table begins.
 */
export function nextSort(column: SortColumn, now: EndpointSort): EndpointSort {
  const first = TRAFFIC_COLUMNS.includes(column)
  if (now.column !== column) return { column, descending: first }
  return now.descending === first ? { column, descending: !first } : FIRST_SORT
}

/** Sorts rows, which come sorted by address; with the heads that change the order. */
export function useSortedRows(
  rows: readonly EndpointRow[],
  sort: EndpointSort,
  onSort: (sort: EndpointSort) => void,
) {
  const sorted = useMemo(() => sortRows(rows, sort), [rows, sort])
  const headOf = (id: SortColumn): SortHead => ({
    sorted: sort.column !== id ? 'none' : sort.descending ? 'descending' : 'ascending',
    toggle: () => onSort(nextSort(id, sort)),
  })
  return { sorted, headOf }
}
