import type { KeyHandlers } from '../keys/keys.ts'
import type { EndpointRow } from './endpoint-rows.ts'

/** What can be done with a row. */
export interface RowActions {
  readonly copy: (row: EndpointRow) => void
  readonly open: (row: EndpointRow) => void
  readonly tryIt: (row: EndpointRow) => void
  // Left out where the role does not allow changes.
  readonly add?: () => void
  readonly edit?: (row: EndpointRow) => void
  readonly remove?: (row: EndpointRow) => void
}

/** The index that lies so many steps from another, within a list. */
export const stepFrom = (index: number, steps: number, count: number): number =>
  Math.min(Math.max(index + steps, 0), count - 1)

/** What the keys of the table do with a row that has the focus. */
export function rowKeys(actions: RowActions, row: EndpointRow): KeyHandlers {
  const { copy, open, tryIt, add, edit, remove } = actions
  const given = {
    open: () => open(row),
    copy: () => copy(row),
    try: () => tryIt(row),
    ...(add && { add: () => add() }),
  }
  // What is left of a removed endpoint can be copied, but not changed.
  if (row.databases === null) return given
  return {
    ...given,
    ...(edit && { edit: () => edit(row) }),
    ...(remove && { remove: () => remove(row) }),
  }
}
