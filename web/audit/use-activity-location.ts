import { useNavigate, useSearch } from '@tanstack/react-router'
import { type ActivitySearch, readActivitySearch } from './activity-search.ts'

/** Where the Activity page stands, and the ways within it. Going back closes a row. */
export function useActivityLocation() {
  const search: ActivitySearch = useSearch({ from: '/activity' })
  const navigate = useNavigate()
  const go = (next: Partial<Record<keyof ActivitySearch, string>>, replace: boolean) =>
    void navigate({
      to: '/activity',
      search: readActivitySearch(next),
      replace,
      resetScroll: false,
    })
  const { open, ...filter } = search
  return {
    search,
    // Each letter typed is not a step to come back to.
    filter: (part: Partial<Record<keyof ActivitySearch, string>>) =>
      go({ ...filter, ...part }, true),
    clear: () => go({}, true),
    toggle: (seq: number) => go(open === `${seq}` ? filter : { ...filter, open: `${seq}` }, false),
  }
}
