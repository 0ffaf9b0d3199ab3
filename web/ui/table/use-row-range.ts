import { defaultRangeExtractor, type Range } from '@tanstack/react-virtual'
import { useCallback } from 'react'
import { printedRange } from '../print/printed-rows.tsx'
import { usePrinting } from '../print/use-printing.ts'
import { withActive } from './row-gaps.ts'

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
