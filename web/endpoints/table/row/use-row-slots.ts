import { useRef } from 'react'
import { assignSlots, type RowSlots } from './assign-slots.ts'

/** The slots of the rows that are in the page now; `held`: see {@link assignSlots}. */
export function useRowSlots(
  ids: readonly string[],
  held: readonly (string | undefined)[],
): RowSlots {
  const last = useRef<RowSlots>(new Map())
  last.current = assignSlots(last.current, ids, held)
  return last.current
}
