import type { QueryClient } from '@tanstack/react-query'
import type { ToastOptions } from '../../shared/toast/toast.ts'
import { type BulkRun, canUndoBulk, undoBulk } from './bulk-run.ts'
import { formatBulkResult } from './format-bulk.ts'

/** Returns the toast of a bulk change that has ended, with Undo if there may be changes to undo. */
export function bulkToast(queryClient: QueryClient, run: BulkRun): ToastOptions {
  const undo = async () => {
    const { ended } = await undoBulk(queryClient, run)
    return bulkToast(queryClient, await ended)
  }
  return {
    text: formatBulkResult(run),
    failures: run.failures.map(({ endpoint: name, reason }) => ({ name, reason })),
    stays: true,
    ...(canUndoBulk(run) && { undo }),
  }
}
