import { lazy } from 'react'
import { useKeys } from '../shared/keys/use-keys.ts'
import { useLayer } from '../shared/keys/use-layer.ts'
import { LazyBoundary } from '../shared/ui/feedback/lazy-boundary.tsx'

const load = () => import('./search-dialog.tsx')
const SearchDialog = lazy(async () => ({ default: (await load()).SearchDialog }))

/** Preloads the search. Load errors are ignored until it opens. */
export const preloadSearch = (): void => void load().catch(() => {})

/** The search with its shortcut. Its dialog is open while the URL ends in `#search`. */
export function GlobalSearch() {
  const { layer, close, toggle } = useLayer()
  useKeys('anywhere', { search: () => toggle('search') })
  if (layer !== 'search') return null
  return (
    <LazyBoundary>
      <SearchDialog onClose={close} />
    </LazyBoundary>
  )
}
