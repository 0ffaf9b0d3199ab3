import { useEffect, useMemo, useState } from 'react'
import type { SortHead } from '../../ui/table/sort-head-cell.tsx'
import { compareNames } from '../../ui/text/compare-names.ts'
import { filterRows } from '../model/endpoint-filter.ts'
import type { EndpointRow } from '../model/endpoint-rows.ts'
import {
  type EndpointSort,
  FIRST_SORT,
  type SortColumn,
  sortKeys,
  TRAFFIC_COLUMNS,
  writeSort,
} from '../model/endpoint-sort.ts'

export interface DisplayOptions {
  readonly filter: string
  readonly sort: EndpointSort
  readonly onSort: (sort: EndpointSort) => void
  /** Time at which the rows were read, ms since 1970. */
  readonly readAt: number
}

/**
 * Returns the rows that match the filter, sorted. Rows are sorted only when the user sorts, filters
 * or asks for it; in between, each keeps its position.
 */
export function useDisplayedRows(rows: readonly EndpointRow[], options: DisplayOptions) {
  const { filter, sort, onSort, readAt } = options
  const { sorted, headOf } = useSortedRows(rows, sort, onSort)
  const wanted = `${writeSort(sort)} ${filter}`
  const [kept, setKept] = useState(() => ({
    positions: positionsOf(sorted),
    wanted,
    /** Sort the rows that were read at this time or later; infinite if no sort is requested. */
    settleFrom: Infinity,
  }))
  const { positions, settleFrom } = kept
  const arranged = useMemo(() => keepPositions(sorted, positions), [sorted, positions])
  const isSettling = readAt >= settleFrom
  if (kept.wanted !== wanted || isSettling) {
    setKept({
      // Skip the work if the rows are already in order, as they mostly are while typing.
      positions: arranged.rows === sorted ? positions : positionsOf(sorted),
      wanted,
      settleFrom: isSettling ? Infinity : settleFrom,
    })
  }
  useEffect(() => {
    // New rows already in their sorted places are part of the order from now on.
    if (arranged.rows === sorted && sorted.some(({ address }) => !positions.has(address))) {
      setKept((now) => ({ ...now, positions: positionsOf(sorted) }))
    }
  }, [arranged, sorted, positions])
  const shown = useMemo(() => filterRows(arranged.rows, filter), [arranged, filter])
  const fresh = useMemo(
    () => (arranged.fresh === 0 ? [] : shown.filter(({ address }) => !positions.has(address))),
    [arranged, shown, positions],
  )
  return {
    shown,
    headOf,
    /** New rows at the end, not yet sorted into their places. */
    fresh,
    /** Whether the displayed order differs from the sort order. */
    moved: arranged.moved,
    /** Sorts all rows, once those read at `from` or later are rendered. */
    settle: (from = 0) => setKept((now) => ({ ...now, settleFrom: from })),
  }
}

/** Sorts rows that arrive sorted by address, and returns the column heads that change the order. */
function useSortedRows(
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

/** Position of each address when the user last sorted the rows. */
type RowPositions = ReadonlyMap<string, number>

/** Rows in display order. */
interface DisplayedRows {
  readonly rows: readonly EndpointRow[]
  /** Number of rows added since the last sort, shown at the end. */
  readonly fresh: number
  /** Whether the current sort order differs from the displayed order. */
  readonly moved: boolean
}

/** Returns the positions of sorted rows. Draining rows share the position of their address. */
export function positionsOf(sorted: readonly EndpointRow[]): RowPositions {
  const positions = new Map<string, number>()
  for (const { address } of sorted) {
    if (!positions.has(address)) positions.set(address, positions.size)
  }
  return positions
}

/**
 * Keeps rows at their positions regardless of the current sort order, so that rows never move on
 * their own. New rows go to the end; a row that returns, for example after an undo, gets its old
 * position.
 */
export function keepPositions(
  sorted: readonly EndpointRow[],
  positions: RowPositions,
): DisplayedRows {
  const placed: { row: EndpointRow; position: number }[] = []
  const fresh: EndpointRow[] = []
  // Both orders agree as long as the positions are ascending.
  let last = -1
  let moved = false
  let scattered = false
  for (const row of sorted) {
    const position = positions.get(row.address)
    if (position === undefined) {
      fresh.push(row)
      continue
    }
    if (position < last) moved = true
    if (fresh.length > 0) scattered = true
    last = position
    placed.push({ row, position })
  }
  if (!moved && !scattered) return { rows: sorted, fresh: 0, moved: false }
  if (moved) placed.sort((a, b) => a.position - b.position)
  return { rows: [...placed.map(({ row }) => row), ...fresh], fresh: fresh.length, moved }
}
