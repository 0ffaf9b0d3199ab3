import { useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'
import { type DatabasesSearch, readDatabasesSearch } from './databases-search.ts'
import type { DatabaseSort } from './table/database-sort.ts'

/**
 * Returns the Databases page's URL search and functions that navigate within it. Going back closes
 * the panel and the dialogs.
 */
export function useDatabasesLocation() {
  const search = useSearch({ from: '/databases' })
  const navigate = useNavigate()
  const actions = useMemo(() => {
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
      // Do not push a history entry for each sort order.
      sort: (sort: DatabaseSort) => go('/databases', { sort }, true),
    }
  }, [navigate])
  return { search, ...actions }
}
