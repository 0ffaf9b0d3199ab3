import { useQuery, useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useEffect, useRef } from 'react'
import { announce } from '../../shared/ui/feedback/announce.tsx'
import { endpointsQuery, listenersQuery } from '../queries.ts'
import { bulkChangesQuery, isRunning } from './bulk-requests.ts'
import { formatBulkResult } from './format-bulk.ts'
import { loadBulkBar } from './load-bulk-bar.ts'
import { dismissBulk, trackBulk, useTrackedBulk } from './tracked-bulk.ts'

const BulkBar = lazy(async () => ({ default: (await loadBulkBar()).BulkBar }))

/** Shows the progress and the outcome of bulk changes on every page. */
export function BulkOutlet() {
  const queryClient = useQueryClient()
  const { data = [] } = useQuery(bulkChangesQuery)
  const { ids, closed, onPage } = useTrackedBulk()
  const announced = useRef(new Set<string>())
  useEffect(() => {
    for (const view of data) {
      // The undo of a change that this page shows may end before the list is read again.
      const isUndo = view.undoOf !== null && ids.has(view.undoOf)
      if (isRunning(view) || isUndo) trackBulk(view.id)
      if (!isRunning(view) && ids.has(view.id) && !announced.current.has(view.id)) {
        announced.current.add(view.id)
        announce(formatBulkResult(view))
        // Live events may have been lost among many changes.
        void queryClient.invalidateQueries({ queryKey: endpointsQuery.queryKey })
        void queryClient.invalidateQueries({ queryKey: listenersQuery.queryKey })
      }
    }
  }, [data, ids, queryClient])
  const shown = data.filter(
    (view) =>
      !closed.has(view.id) &&
      view.id !== onPage &&
      (isRunning(view) || (ids.has(view.id) && view.undoneBy === null)),
  )
  const view = shown.find(isRunning) ?? shown[0]
  if (view === undefined) return null
  return (
    <Suspense>
      <BulkBar
        view={view}
        onClose={() => dismissBulk(shown.flatMap((each) => (isRunning(each) ? [] : each.id)))}
      />
    </Suspense>
  )
}
