import { lazy, useSyncExternalStore } from 'react'
import { LazyBoundary } from '../../shared/ui/feedback/lazy-boundary.tsx'
import { lastChange } from './last-change.ts'

const load = () => import('./undo-changes-bar.tsx')
const UndoChangesBar = lazy(async () => ({ default: (await load()).UndoChangesBar }))

/** Loads the bar while a change is made. Load errors are reported when the bar is shown. */
export const preloadUndoChanges = (): void => void load().catch(() => {})

/** Shows the last change of documents on every page, where it can be undone. */
export function UndoChangesOutlet() {
  const now = useSyncExternalStore(lastChange.subscribe, lastChange.current)
  if (now === undefined) return null
  return (
    <LazyBoundary>
      <UndoChangesBar />
    </LazyBoundary>
  )
}
