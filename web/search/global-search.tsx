import { lazy, Suspense } from 'react'
import { useKeys } from '../keys/use-keys.ts'
import { useLayer } from '../keys/use-layer.ts'
import { PartBoundary } from '../ui/part-boundary.tsx'

const load = () => import('./search-dialog.tsx')
const SearchDialog = lazy(async () => ({ default: (await load()).SearchDialog }))

/** Loads the search before it is asked for. Faults wait for the use. */
export const preloadSearch = (): void => void load().catch(() => {})

/** The search: its key, and its dialog wherever the URL ends in `#search`; once, in the frame. */
export function GlobalSearch() {
  const { layer, close, toggle } = useLayer()
  useKeys('anywhere', { search: () => toggle('search') })
  if (layer !== 'search') return null
  return (
    <PartBoundary>
      <Suspense>
        <SearchDialog onClose={close} />
      </Suspense>
    </PartBoundary>
  )
}
