import { useEffect } from 'react'
import { flushSync } from 'react-dom'
import {
  type RowNavigationOptions,
  useRowNavigation,
} from '../../../shared/keys/use-row-navigation.ts'
import { useLatest } from '../../../ui/use-latest.ts'
import type { EndpointRow } from '../../model/endpoint-rows.ts'
import { onReveal } from '../../model/reveal-row.ts'
import { type RowActions, rowKeys } from './row-keys.ts'

export interface EndpointNavigationOptions
  extends Omit<RowNavigationOptions<EndpointRow>, 'where' | 'keysOf'> {
  readonly actions: RowActions
  /** Called before a row gets the focus; it may have to be sorted into its place first. */
  readonly onLookFor: (id: string) => void
}

/** Handles the keyboard in the rows of the endpoints, and renders a row that is to get the focus. */
export function useEndpointNavigation(options: EndpointNavigationOptions) {
  const { actions, onLookFor, ...rest } = options
  const navigation = useRowNavigation({
    ...rest,
    where: 'endpoints',
    keysOf: (row) => rowKeys(actions, row),
  })
  const { activate } = navigation
  const lookFor = useLatest(onLookFor)
  useEffect(
    () =>
      onReveal((id) =>
        flushSync(() => {
          lookFor.current(id)
          activate(id)
        }),
      ),
    [activate, lookFor],
  )
  return navigation
}
