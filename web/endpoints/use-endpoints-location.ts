import { useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'

/** What the URL of the Endpoints page says: filter and order, the panel and the dialog open. */
export interface EndpointsSearch {
  readonly q?: string
  /** The column by which the rows are sorted, `-` before it for descending. */
  readonly sort?: string
  /** The address whose panel is open. */
  readonly open?: string
  /** The address whose mapping is edited. */
  readonly edit?: string
  /** The address that is asked about before it is removed. */
  readonly remove?: string
  /** The address that a new endpoint is to be like. */
  readonly like?: string
  /** What is about to be done with the selected rows: `add`, `take-out` or `remove`. */
  readonly several?: string
}

/** Reads the search part of the URL; anything else in it is dropped. */
export function readEndpointsSearch(search: Record<string, unknown>): EndpointsSearch {
  const text = (key: string) => {
    const value = search[key]
    return typeof value === 'string' && value !== '' ? { [key]: value } : {}
  }
  const keys = ['q', 'sort', 'open', 'edit', 'remove', 'several', 'like']
  return Object.assign({}, ...keys.map(text))
}

/** Where the Endpoints page stands, and the ways within it. Going back closes what is open. */
export function useEndpointsLocation() {
  const search = useSearch({ from: '/endpoints' })
  const navigate = useNavigate()
  const ways = useMemo(() => {
    const go = (
      to: '/endpoints' | '/endpoints/new',
      change: (now: EndpointsSearch) => EndpointsSearch,
      replace = false,
    ) =>
      void navigate({
        to,
        search: (now: EndpointsSearch) =>
          readEndpointsSearch({ q: now.q, sort: now.sort, ...change(now) }),
        replace,
        resetScroll: false,
      })
    // A dialog opens over the panel, which is there again afterwards.
    const over = (change: EndpointsSearch) =>
      go('/endpoints', ({ open }) => ({ ...(open === undefined ? {} : { open }), ...change }))
    const isDialog = (now: EndpointsSearch) =>
      now.edit !== undefined || now.remove !== undefined || now.several !== undefined
    return {
      add: () => go('/endpoints/new', () => ({})),
      duplicate: (address: string) => go('/endpoints/new', () => ({ like: address })),
      open: (address: string) => go('/endpoints', () => ({ open: address })),
      edit: (address: string) => over({ edit: address }),
      remove: (address: string) => over({ remove: address }),
      several: (action: string) => over({ several: action }),
      closePanel: () => go('/endpoints', () => ({})),
      /** Closes the dialog; the panel beneath it stays. */
      close: () =>
        go('/endpoints', (now) =>
          isDialog(now) && now.open !== undefined ? { open: now.open } : {},
        ),
      // Each order looked at is not a step to come back to.
      sort: (sort: string | undefined) =>
        go('/endpoints', ({ open }) => ({ ...(open && { open }), sort: sort ?? '' }), true),
    }
  }, [navigate])
  return { search, ...ways }
}
