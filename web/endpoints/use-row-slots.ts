import { useRef } from 'react'
import { assignSlots, type RowSlots } from './assign-slots.ts'

/** The slots of the rows that are in the page now; `held`: see {@link assignSlots}. */
export function useRowSlots(
  ids: readonly string[],
  held: readonly (string | undefined)[],
): RowSlots {
  const last = useRef<{ slots: RowSlots; held: typeof held }>({ slots: new Map(), held })
  const slots = assignSlots(last.current.slots, ids, [...last.current.held, ...held])
  last.current = { slots, held }
  return slots
}
