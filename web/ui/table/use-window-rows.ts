import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { type RefObject, useCallback, useLayoutEffect, useState } from 'react'
import { rowsAndGaps, useRowRange } from './use-row-range.ts'

export interface WindowRowsOptions<Row> {
  /** The element that contains the rows. */
  readonly container: RefObject<HTMLElement | null>
  readonly rows: readonly Row[]
  readonly idOf: (row: Row) => string
  /** Returns the height of a row in pixels. */
  readonly heightOf: () => number
  /** Number of rows to render above and below the visible ones. */
  readonly overscan: number
  /** Index of the row that stays rendered. */
  readonly active: number | undefined
}

/**
 * Returns which rows of a list to render that scrolls with the page, with the gaps in place of the
 * others.
 */
export function useWindowRows<Row>(options: WindowRowsOptions<Row>) {
  const { container, rows, idOf, heightOf, overscan, active } = options
  const [top, setTop] = useState(0)
  useLayoutEffect(() => {
    if (container.current !== null) setTop(container.current.getBoundingClientRect().top + scrollY)
  }, [container])
  const { printing, rangeExtractor } = useRowRange(active)
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: heightOf,
    getItemKey: useCallback(
      (index: number) => (rows[index] === undefined ? index : idOf(rows[index])),
      [rows, idOf],
    ),
    rangeExtractor,
    overscan,
    scrollMargin: top,
  })
  const { startIndex = 0, endIndex = -1 } = virtual.range ?? {}
  return {
    items: rowsAndGaps(virtual.getVirtualItems(), { from: top, to: top + virtual.getTotalSize() }),
    /** Ref of rows whose content may wrap; each needs its index in `data-index`. */
    measure: virtual.measureElement,
    /** The visible rows; none in print. */
    visible: printing ? [] : rows.slice(startIndex, endIndex + 1),
  }
}
