import { useEffect, useMemo, useState } from 'react'
import type { EndpointRow } from '../model/endpoint-rows.ts'
import { keepPositions, positionsOf } from '../model/list/displayed-rows.ts'
import { filterRows } from '../model/list/endpoint-filter.ts'
import { type EndpointSort, writeSort } from '../model/list/endpoint-sort.ts'
import { useSortedRows } from './use-sorted-rows.ts'

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
