import { useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'

/** What the URL of the Endpoints page says: the filter, and the dialog that is open. */
export interface EndpointsSearch {
  readonly q?: string
  /** The address whose mapping is edited. */
  readonly edit?: string
  /** The address that is asked about before it is removed. */
  readonly remove?: string
  /** The address that a new endpoint is to be like. */
  readonly like?: string
}

/** Reads the search part of the URL; anything else in it is dropped. */
export function readEndpointsSearch(search: Record<string, unknown>): EndpointsSearch {
  const text = (key: string) => {
    const value = search[key]
    return typeof value === 'string' && value !== '' ? { [key]: value } : {}
  }
  return { ...text('q'), ...text('edit'), ...text('remove'), ...text('like') }
}

/** Where the Endpoints page stands, and the ways within it. Going back closes a dialog. */
export function useEndpointsLocation() {
  const search = useSearch({ from: '/endpoints' })
  const navigate = useNavigate()
  const ways = useMemo(() => {
    const go = (to: '/endpoints' | '/endpoints/new', change: EndpointsSearch, replace = false) =>
      void navigate({
        to,
        search: (now: EndpointsSearch) => readEndpointsSearch({ q: now.q, ...change }),
        replace,
      })
    return {
      add: () => go('/endpoints/new', {}),
      duplicate: (address: string) => go('/endpoints/new', { like: address }),
      edit: (address: string) => go('/endpoints', { edit: address }),
      remove: (address: string) => go('/endpoints', { remove: address }),
      close: () => go('/endpoints', {}),
      // Each letter typed is not a step to come back to.
      filter: (q: string) => go('/endpoints', { q }, true),
    }
  }, [navigate])
  return { search, ...ways }
}
