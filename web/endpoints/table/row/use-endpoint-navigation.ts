import { useEffect } from 'react'
import { flushSync } from 'react-dom'
import type { KeyHandlers } from '../../../shared/keys/keys.ts'
import {
  type RowNavigationOptions,
  useRowNavigation,
} from '../../../shared/keys/use-row-navigation.ts'
import { useLatest } from '../../../ui/use-latest.ts'
import type { EndpointRow } from '../../model/endpoint-rows.ts'
import { onReveal } from '../../model/reveal-row.ts'

export interface EndpointNavigationOptions
  extends Omit<RowNavigationOptions<EndpointRow>, 'where' | 'keysOf'> {
  readonly actions: RowActions
  /** Called before a row gets the focus; it may have to be sorted into its place first. */
  readonly onBeforeFocus: (id: string) => void
}

/** Handles the keyboard in the rows of the endpoints, and renders a row that is to get the focus. */
export function useEndpointNavigation(options: EndpointNavigationOptions) {
  const { actions, onBeforeFocus, ...rest } = options
  const navigation = useRowNavigation({
    ...rest,
    where: 'endpoints',
    keysOf: (row) => rowKeys(actions, row),
  })
  const { activate } = navigation
  const beforeFocus = useLatest(onBeforeFocus)
  useEffect(
    () =>
      onReveal((id) =>
        flushSync(() => {
          beforeFocus.current(id)
          activate(id)
        }),
      ),
    [activate, beforeFocus],
  )
  return navigation
}

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
function rowKeys(actions: RowActions, row: EndpointRow): KeyHandlers<'endpoints'> {
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
