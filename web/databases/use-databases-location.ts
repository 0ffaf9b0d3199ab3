import { useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'
import type { DatabaseSort } from './database-sort.ts'
import { type DatabasesSearch, readDatabasesSearch } from './databases-search.ts'

/** Where the Databases page stands, and the ways within it. Going back closes panel and dialog. */
export function useDatabasesLocation() {
  const search = useSearch({ from: '/databases' })
  const navigate = useNavigate()
  const ways = useMemo(() => {
    const go = (to: '/databases' | '/databases/new', change: DatabasesSearch, replace = false) =>
      void navigate({
        to,
        search: (now: { q?: string; sort?: string }) =>
          readDatabasesSearch({ q: now.q, sort: now.sort, ...change }),
        replace,
        resetScroll: false,
      })
    return {
      create: () => go('/databases/new', {}),
      open: (name: string, replace = false) => go('/databases', { open: name }, replace),
      drop: (name: string) => go('/databases', { drop: name }),
      close: () => go('/databases', {}),
      // Each order looked at is not a step to come back to.
      sort: (sort: DatabaseSort) => go('/databases', { sort }, true),
    }
  }, [navigate])
  return { search, ...ways }
}
