import { useMemo } from 'react'
import type { SortHead } from '../../ui/table/sort-head-cell.tsx'
import { compareNames } from '../../ui/text/compare-names.ts'
import type { EndpointRow } from '../model/endpoint-rows.ts'
import {
  type EndpointSort,
  FIRST_SORT,
  type SortColumn,
  sortKeys,
  TRAFFIC_COLUMNS,
} from '../model/endpoint-sort.ts'

/** Sorts rows that arrive sorted by address. The sort is stable. */
export function sortRows(
  rows: readonly EndpointRow[],
  { column, descending }: EndpointSort,
): readonly EndpointRow[] {
  if (column === 'address') return descending ? rows.toReversed() : rows
  const keyOf = sortKeys[column]
  const direction = descending ? -1 : 1
  // Compute each key once instead of in every comparison.
  return rows
    .map((row) => ({ row, key: keyOf(row) }))
    .sort((a, b) => direction * compareKeys(a.key, b.key))
    .map(({ row }) => row)
}

const compareKeys = (a: number | string, b: number | string): number =>
  typeof a === 'string' ? compareNames(a, String(b)) : a - Number(b)

/**
 * Returns the order after a click on a column head: the column's first direction, then the other,
 * then the default order.
 */
export function nextSort(column: SortColumn, now: EndpointSort): EndpointSort {
  const first = TRAFFIC_COLUMNS.includes(column)
  if (now.column !== column) return { column, descending: first }
  return now.descending === first ? { column, descending: !first } : FIRST_SORT
}

/** Sorts rows that arrive sorted by address, and returns the column heads that change the order. */
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
