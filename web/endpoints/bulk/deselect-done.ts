import { useEffect, useRef } from 'react'
import { type BulkRun, useBulkRun } from './bulk-run.ts'

/**
 * Deselects, after a bulk change of this page, the endpoints that are as planned. Failed endpoints
 * and later choices stay selected.
 */
export function useDeselectDone(deselect: (addresses: Iterable<string>) => void): void {
  const run = useBulkRun()
  const handled = useRef<BulkRun>(undefined)
  useEffect(() => {
    if (run?.isRefetched !== true || run.kind !== 'change' || run === handled.current) return
    handled.current = run
    deselect(run.done)
  }, [run, deselect])
}
