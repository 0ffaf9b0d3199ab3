import type { QueryClient } from '@tanstack/react-query'
import {
  type EndpointChangeInput,
  MAX_CHANGES,
} from '../../../server/contract/endpoints/endpoint-change.ts'
import { showToast } from '../../shared/toast/toast.ts'
import { type BulkRun, isImportShown, startBulk, useBulkRun } from '../bulk/bulk-run.ts'
import { bulkToast } from '../bulk/bulk-toast.ts'
import { orderChanges } from './import-order.ts'
import type { ImportChange } from './import-plan.ts'

/** Returns the import of this page, if there is one. */
export function useImportRun(): BulkRun | undefined {
  const run = useBulkRun()
  return run?.kind === 'import' ? run : undefined
}

/** Whether an import has not ended, or the endpoints have not been refetched since. */
export const isImporting = (run: BulkRun | undefined): run is BulkRun =>
  run !== undefined && run.refetched === undefined

/**
 * Runs an import to its end. Throws if it does not begin.
 *
 * @param here the address of the endpoint that serves this page.
 */
export async function runImport(
  queryClient: QueryClient,
  changes: readonly ImportChange[],
  { here, removeAnyway }: { readonly here: string; readonly removeAnyway: boolean },
): Promise<BulkRun> {
  if (changes.length > MAX_CHANGES) {
    throw new Error('An import can make at most 10,000 changes. Split the file.')
  }
  const inputs = orderChanges(changes, here).map(toInput)
  const options = { kind: 'import', total: inputs.length, keepOnFailure: !removeAnyway } as const
  const { ended } = await startBulk(queryClient, inputs, options)
  const run = await ended
  if (!isImportShown()) showToast(bulkToast(queryClient, run))
  return run
}

/** Returns the request for a change, conditional on the compared state of the endpoint. */
function toInput({ kind, address, after, revision }: ImportChange): EndpointChangeInput {
  if (kind !== 'added' && revision === undefined) {
    throw new Error(`The state of ${address} is not known yet. Try again.`)
  }
  const expect = kind === 'added' ? null : revision
  return after === null
    ? { endpoint: address, remove: true, expect }
    : { endpoint: address, databases: [...after], expect }
}
