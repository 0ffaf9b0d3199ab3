import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { EndpointRecord } from '../../../server/contract/endpoints/endpoint.ts'
import { sameMapping } from '../model/mapping.ts'
import { endpointsQuery } from '../queries.ts'
import { bulkChangesQuery, isRunning } from './bulk-requests.ts'
import type { BulkPlan } from './plan-bulk.ts'

/** Plans of the running bulk changes that this page started, by id. */
const started = new Map<string, BulkPlan>()

/**
 * Deselects the endpoints that are as a bulk change planned them, once it has ended; see {@link
 * useDeselectDone}.
 */
export const deselectDoneAfter = (id: string, plan: BulkPlan): void => void started.set(id, plan)

/**
 * Deselects, after a bulk change of this page, the endpoints that are as planned. Failed endpoints
 * and later choices stay selected.
 */
export function useDeselectDone(deselect: (addresses: Iterable<string>) => void): void {
  const queryClient = useQueryClient()
  const { data } = useQuery(bulkChangesQuery)
  useEffect(() => {
    for (const view of data ?? []) {
      const plan = started.get(view.id)
      if (plan === undefined || isRunning(view)) continue
      started.delete(view.id)
      queryClient.fetchQuery({ ...endpointsQuery, staleTime: 0 }).then(
        (list) => deselect(findDone(plan, list)),
        // The endpoint list shows this error itself. The selection stays.
        () => {},
      )
    }
  }, [data, queryClient, deselect])
}

/** Returns the addresses whose configuration is as planned. */
function findDone(plan: BulkPlan, list: readonly EndpointRecord[]): string[] {
  const now = new Map(list.map(({ endpoint, databases }) => [endpoint, databases]))
  const skipped = plan.skipped.flatMap(({ address, isUnchanged }) => (isUnchanged ? address : []))
  const changed = plan.tasks.flatMap(({ row: { address }, after }) => {
    const databases = now.get(address)
    const isDone =
      after === null
        ? databases === undefined
        : databases !== undefined && sameMapping(databases, after)
    return isDone ? address : []
  })
  return [...skipped, ...changed]
}
