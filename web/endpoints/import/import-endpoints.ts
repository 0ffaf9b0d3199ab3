import { useQueryClient } from '@tanstack/react-query'
import { MAX_CHANGES } from '../../../server/contract/endpoints/endpoint.ts'
import type { EndpointChangeInput } from '../../../server/contract/endpoints/endpoint-change.ts'
import { useOwnEndpoint } from '../../api/session/person.ts'
import { useSingleMutation } from '../../shared/forms/use-single-mutation.ts'
import type { ImportControl } from '../../shared/import/use-import.ts'
import { showToast } from '../../shared/toast/toast.ts'
import { hasChangedOwn, startBulk } from '../bulk/bulk-run.ts'
import type { BulkRun } from '../bulk/bulk-store.ts'
import { bulkToast } from '../bulk/format-bulk.ts'
import { showConsoleLink } from '../endpoint-toast.ts'
import type { ChangeGuard } from '../guard/check-changes.ts'
import { sameState } from '../model/mapping.ts'
import { formatImportProgress, formatImportResult } from './format-import.ts'
import { type ImportChange, orderChanges } from './import-plan.ts'

interface EndpointImport extends ImportControl {
  readonly changes: readonly ImportChange[]
  readonly guard: ChangeGuard
  /** Whether to remove endpoints after another change failed. */
  readonly removeAnyway: boolean
}

/** Makes the changes of an import. Those that were made before it ended stay. */
export function useImportEndpoints() {
  const queryClient = useQueryClient()
  const here = useOwnEndpoint()
  return useSingleMutation({
    mutationFn: async ({ changes, removeAnyway, signal, onProgress }: EndpointImport) => {
      if (changes.length > MAX_CHANGES)
        throw new Error('An import can make at most 10,000 changes. Split the file.')
      const inputs = orderChanges(changes, here).map(toInput)
      const onChange = (run: BulkRun) => onProgress(formatImportProgress(run))
      const control = { signal, onChange }
      const options = { keepOnFailure: !removeAnyway, control }
      return (await startBulk(queryClient, inputs, options)).ended
    },
    onSuccess: (run, { changes, guard: { disconnects, otherConsole } }) => {
      const own = changes.find(({ address }) => address === here)
      const isMoved = own !== undefined && disconnects && hasChangedOwn(run, here)
      if (isMoved && otherConsole !== undefined) showConsoleLink(own, otherConsole)
      // The dialog lists the failures.
      else
        showToast({ ...bulkToast(queryClient, run), text: formatImportResult(run), failures: [] })
    },
  })
}

/** Returns the request for a change, conditional on the compared state of the endpoint. */
function toInput(change: ImportChange): EndpointChangeInput {
  const { kind, address, before, after, revision, policy, policyRevision } = change
  if (kind === 'changed' && policy !== undefined && sameState(before, after)) {
    return { endpoint: address, policy: policy.after, expectPolicy: policyRevision ?? null }
  }
  if (kind !== 'added' && revision === undefined) {
    throw new Error(`The state of ${address} is not known yet. Try again.`)
  }
  const expect = kind === 'added' ? null : revision
  if (after === null) return { endpoint: address, remove: true, expect }
  const rules = policy && { policy: policy.after }
  return { endpoint: address, databases: [...after], ...rules, expect }
}
