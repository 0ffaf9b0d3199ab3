import { lazy, Suspense, useEffect } from 'react'
import { announce } from '../../shared/ui/feedback/announce.tsx'
import { useBulkRun, useImportShown } from './bulk-run.ts'
import { formatBulkResult } from './format-bulk.ts'
import { loadBulkBar } from './load-bulk-bar.ts'

const BulkBar = lazy(async () => ({ default: (await loadBulkBar()).BulkBar }))

/** Shows the progress and the outcome of the last bulk change on every page. */
export function BulkOutlet() {
  const run = useBulkRun()
  const isImportShown = useImportShown()
  const isShown = run !== undefined && !(run.kind === 'import' && isImportShown)
  const result = isShown && run.refetched !== undefined ? formatBulkResult(run) : undefined
  useEffect(() => {
    if (result !== undefined) announce(result)
  }, [result])
  return (
    isShown && (
      <Suspense>
        <BulkBar run={run} />
      </Suspense>
    )
  )
}
