import { useEffect, useMemo, useState } from 'react'
import { arrange, placesOf } from './arrangement.ts'
import { filterRows } from './endpoint-filter.ts'
import type { EndpointRow } from './endpoint-rows.ts'
import { type EndpointSort, writeSort } from './endpoint-sort.ts'
import { useSortedRows } from './use-sorted-rows.ts'

/** What decides which rows are shown, and in which order. */
export interface ShownOptions {
  readonly filter: string
  readonly sort: EndpointSort
  readonly onSort: (sort: EndpointSort) => void
}

/**
 * The rows that pass the filter, in the order wanted. They are put in order when somebody sorts,
 * filters or asks for it; in between each keeps its place, whatever changes.
 */
export function useShownRows(rows: readonly EndpointRow[], options: ShownOptions) {
  const { filter, sort, onSort } = options
  const { sorted, headOf } = useSortedRows(rows, sort, onSort)
  const wanted = `${writeSort(sort)} ${filter}`
  const [kept, setKept] = useState(() => ({ places: placesOf(sorted), wanted }))
  const { places } = kept
  const arranged = useMemo(() => arrange(sorted, places), [sorted, places])
  if (kept.wanted !== wanted) {
    // While one types they are in order, mostly: ten thousand places are not counted for a letter.
    setKept({ places: arranged.rows === sorted ? places : placesOf(sorted), wanted })
  }
  useEffect(() => {
    // In order with new ones at their places: these belong to it from now on.
    if (arranged.rows === sorted && sorted.some(({ address }) => !places.has(address))) {
      setKept((now) => ({ ...now, places: placesOf(sorted) }))
    }
  }, [arranged, sorted, places])
  const shown = useMemo(() => filterRows(arranged.rows, filter), [arranged, filter])
  const fresh = useMemo(
    () => (arranged.fresh === 0 ? [] : shown.filter(({ address }) => !places.has(address))),
    [arranged, shown, places],
  )
  return {
    shown,
    headOf,
    /** The new ones that wait at the end to be put into their places. */
    fresh,
    /** Whether those that are kept in their places would be in another order by now. */
    moved: arranged.moved,
    /** Puts all rows in order. */
    settle: () => setKept((now) => ({ ...now, places: placesOf(sorted) })),
  }
}
