import { defaultRangeExtractor, type Range } from '@tanstack/react-virtual'
import { useCallback } from 'react'
import { printedRange, usePrinting } from './printed-rows.tsx'

/**
 * Returns which rows a virtual table renders: the visible ones and the active one, which may have
 * the focus, or all that are printed.
 */
export function useRowRange(active: number | undefined) {
  const printing = usePrinting()
  const rangeExtractor = useCallback(
    (range: Range) =>
      printing
        ? printedRange(range.count)
        : withActive(defaultRangeExtractor(range), active, range.count),
    [active, printing],
  )
  return { printing, rangeExtractor }
}

/** A rendered row, or a gap in place of rows that are not rendered. */
type RowOrGap = { readonly index: number } | { readonly gap: number; readonly before: number }

/** Returns the rendered rows with gaps in between. Positions and sizes are in px. */
export function rowsAndGaps(
  items: readonly { readonly index: number; readonly start: number; readonly end: number }[],
  { from, to }: { readonly from: number; readonly to: number },
): RowOrGap[] {
  let end = from
  const all: RowOrGap[] = []
  for (const item of items) {
    if (item.start > end) all.push({ gap: item.start - end, before: item.index })
    all.push({ index: item.index })
    end = item.end
  }
  if (to > end) all.push({ gap: to - end, before: -1 })
  return all
}

/** Returns the indexes to render: the visible range and the active row, if there is one. */
export const withActive = (
  range: readonly number[],
  active: number | undefined,
  count: number,
): number[] =>
  active === undefined || active >= count || range.includes(active)
    ? [...range]
    : [...range, active].sort((a, b) => a - b)
