import { useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'
import type { ClientRule } from '../policy/policy-draft.ts'
import { useDialogNavigation } from '../shared/use-dialog-navigation.ts'

/** The search parameters of the Endpoints page: filter, order, and the open panel and dialog. */
export interface EndpointsSearch {
  readonly q?: string
  /** The sort column, prefixed with `-` for descending order. */
  readonly sort?: string
  /** The address of the endpoint in the panel. */
  readonly open?: string
  /** The address of the endpoint whose mapping is edited. */
  readonly edit?: string
  /** The address of the endpoint to remove. */
  readonly remove?: string
  /** The address of the endpoint whose port is changed. */
  readonly port?: string
  /** The address of the endpoint whose policy is edited. */
  readonly policy?: string
  /** A client to block in the form of the policy. */
  readonly deny?: string
  /** The only client to allow in the form of the policy. */
  readonly allow?: string
  /** The address of the endpoint to turn off or on. */
  readonly switch?: string
  /** The address of the endpoint to duplicate. */
  readonly like?: string
  /** The database that a new endpoint serves. */
  readonly serve?: string
  /** The bulk action on the selected rows, such as `remove`. */
  readonly bulk?: string
}

/** The parameters that open a dialog. */
const DIALOGS = ['edit', 'remove', 'port', 'policy', 'switch', 'bulk'] as const

/** Returns whether a dialog is open, except that of a new endpoint. */
export const hasDialog = (search: EndpointsSearch): boolean =>
  DIALOGS.some((key) => search[key] !== undefined)

/** Parses the search parameters of the URL; unknown ones are dropped. */
export function readEndpointsSearch(search: Record<string, unknown>): EndpointsSearch {
  const text = (key: string) => {
    const value = search[key]
    return typeof value === 'string' && value !== '' ? { [key]: value } : {}
  }
  return Object.assign(
    {},
    ...['q', 'sort', 'open', 'like', 'serve', 'deny', 'allow', ...DIALOGS].map(text),
  )
}

/**
 * Returns the location within the Endpoints page, and functions to navigate. The Back button closes
 * the open panel or dialog.
 */
export function useEndpointsLocation() {
  const search = useSearch({ from: '/endpoints' })
  const dialogs = useDialogNavigation()
  const actions = useMemo(() => {
    const at = (
      to: '/endpoints' | '/endpoints/new',
      change: (now: EndpointsSearch) => EndpointsSearch,
    ) => ({
      to,
      search: (now: EndpointsSearch) =>
        readEndpointsSearch({ q: now.q, sort: now.sort, ...change(now) }),
    })
    // A dialog opens over the panel, which reappears when the dialog closes.
    const openDialog = (change: EndpointsSearch) =>
      dialogs.open(
        at('/endpoints', ({ open }) => ({ ...(open === undefined ? {} : { open }), ...change })),
      )
    return {
      add: () => dialogs.open(at('/endpoints/new', () => ({}))),
      duplicate: (address: string) => dialogs.open(at('/endpoints/new', () => ({ like: address }))),
      open: (address: string) => dialogs.open(at('/endpoints', () => ({ open: address }))),
      edit: (address: string) => openDialog({ edit: address }),
      remove: (address: string) => openDialog({ remove: address }),
      changePort: (address: string) => openDialog({ port: address }),
      changePolicy: (address: string, change: ClientRule = {}) =>
        openDialog({ policy: address, ...change }),
      switch: (address: string) => openDialog({ switch: address }),
      bulk: (action: string) => openDialog({ bulk: action }),
      closePanel: () => dialogs.close(at('/endpoints', () => ({}))),
      /** Closes the dialog and keeps the panel beneath it. */
      close: () =>
        dialogs.close(
          at('/endpoints', (now) =>
            hasDialog(now) && now.open !== undefined ? { open: now.open } : {},
          ),
        ),
      // Sorting replaces the history entry.
      sort: (sort: string | undefined) =>
        dialogs.replace(
          at('/endpoints', ({ open }) => ({ ...(open && { open }), sort: sort ?? '' })),
        ),
    }
  }, [dialogs])
  return { search, ...actions }
}
