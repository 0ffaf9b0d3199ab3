import { useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'
import { type ActivitySearch, readActivitySearch } from './activity-search.ts'

type SearchChanges = Partial<Record<keyof ActivitySearch, string>>

/**
 * Returns the Activity page's URL search and functions that navigate within it. Going back
 * collapses a row.
 */
export function useActivityLocation() {
  const merged = useSearch({ from: '/activity' })
  // The router keeps parameters that its validation has dropped.
  const search = useMemo(() => readActivitySearch(merged), [merged])
  const navigate = useNavigate()
  const actions = useMemo(() => {
    // Read the current search on navigation: a debounced text may arrive after another change.
    const go = (update: (now: ActivitySearch) => SearchChanges, replace: boolean) =>
      void navigate({
        to: '/activity',
        search: (now) => readActivitySearch(update(readActivitySearch(now))),
        replace,
        resetScroll: false,
      })
    return {
      // Do not push a history entry for each change of the filter.
      filter: (changes: SearchChanges) => go((now) => ({ ...now, ...changes }), true),
      clear: () => go(() => ({}), true),
      toggle: (seq: number) =>
        go((now) => ({ ...now, open: now.open === `${seq}` ? '' : `${seq}` }), false),
    }
  }, [navigate])
  return { search, ...actions }
}
