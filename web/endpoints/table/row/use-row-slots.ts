import { useRef } from 'react'
import { assignSlots, type RowSlots } from './assign-slots.ts'

/** Returns the slots of the rendered rows; see {@link assignSlots} for `held`. */
export function useRowSlots(
  ids: readonly string[],
  held: readonly (string | undefined)[],
): RowSlots {
  const last = useRef<RowSlots>(new Map())
  last.current = assignSlots(last.current, ids, held)
  return last.current
}
