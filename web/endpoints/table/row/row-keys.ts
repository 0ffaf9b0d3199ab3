import type { KeyHandlers } from '../../../shared/keys/keys.ts'
import type { EndpointRow } from '../../model/endpoint-rows.ts'

/** The actions of a row. */
export interface RowActions {
  readonly copy: (row: EndpointRow) => void
  readonly open: (row: EndpointRow) => void
  readonly tryIt: (row: EndpointRow) => void
  // Undefined if the role does not allow changes.
  readonly add?: () => void
  readonly edit?: (row: EndpointRow) => void
  readonly remove?: (row: EndpointRow) => void
}

/** Returns the key handlers of the focused row. */
export function rowKeys(actions: RowActions, row: EndpointRow): KeyHandlers<'endpoints'> {
  const { copy, open, tryIt, add, edit, remove } = actions
  const handlers = {
    open: () => open(row),
    copy: () => copy(row),
    try: () => tryIt(row),
    ...(add && { add: () => add() }),
  }
  // A removed endpoint can be copied, but not changed.
  if (row.databases === null) return handlers
  return {
    ...handlers,
    ...(edit && { edit: () => edit(row) }),
    ...(remove && { remove: () => remove(row) }),
  }
}
