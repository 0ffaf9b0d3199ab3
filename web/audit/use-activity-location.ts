import { useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'
import { type ActivitySearch, readActivitySearch } from './activity-search.ts'

type Part = Partial<Record<keyof ActivitySearch, string>>

/** Where the Activity page stands, and the ways within it. Going back closes a row. */
export function useActivityLocation() {
  const search: ActivitySearch = useSearch({ from: '/activity' })
  const navigate = useNavigate()
  const ways = useMemo(() => {
    // From where the page stands by then: what was typed is told a moment after another choice.
    const go = (change: (now: ActivitySearch) => Part, replace: boolean) =>
      void navigate({
        to: '/activity',
        search: (now) => readActivitySearch(change(readActivitySearch(now))),
        replace,
        resetScroll: false,
      })
    return {
      // Each choice looked at is not a step to come back to.
      filter: (part: Part) => go((now) => ({ ...now, ...part }), true),
      clear: () => go(() => ({}), true),
      toggle: (seq: number) =>
        go((now) => ({ ...now, open: now.open === `${seq}` ? '' : `${seq}` }), false),
    }
  }, [navigate])
  return { search, ...ways }
}
