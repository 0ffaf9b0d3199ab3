import { lazy, Suspense } from 'react'
import { useBulkRun } from './bulk-store.ts'
import { loadBulkBar } from './load-bulk-bar.ts'

const BulkBar = lazy(async () => ({ default: (await loadBulkBar()).BulkBar }))

/** Shows the progress of a bulk change on every page. A toast shows its outcome. */
export function BulkOutlet() {
  const run = useBulkRun()
  if (run === undefined || run.end !== undefined) return null
  return (
    <Suspense>
      <BulkBar run={run} />
    </Suspense>
  )
}
