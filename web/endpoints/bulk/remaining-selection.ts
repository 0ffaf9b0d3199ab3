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
 * Selects the endpoints that a bulk change leaves unchanged, once it has ended; see {@link
 * useRemainingSelection}.
 */
export const selectUnchangedAfter = (id: string, plan: BulkPlan): void => void started.set(id, plan)

/** Selects, after a bulk change of this page, the endpoints that differ from its plan. */
export function useRemainingSelection(choose: (addresses: Iterable<string>) => void): void {
  const queryClient = useQueryClient()
  const { data } = useQuery(bulkChangesQuery)
  useEffect(() => {
    for (const view of data ?? []) {
      const plan = started.get(view.id)
      if (plan === undefined || isRunning(view)) continue
      started.delete(view.id)
      queryClient.fetchQuery({ ...endpointsQuery, staleTime: 0 }).then(
        (list) => choose(findUnchanged(plan, list)),
        // The endpoint list shows this error itself. The selection stays.
        () => {},
      )
    }
  }, [data, queryClient, choose])
}

/** Returns the addresses whose configuration differs from the plan. */
export function findUnchanged(plan: BulkPlan, list: readonly EndpointRecord[]): string[] {
  const now = new Map(list.map(({ endpoint, databases }) => [endpoint, databases]))
  const skipped = plan.skipped.flatMap(({ address, isUnchanged }) => (isUnchanged ? [] : address))
  const left = plan.tasks.flatMap(({ row: { address }, after }) => {
    const databases = now.get(address)
    const isDone =
      after === null
        ? databases === undefined
        : databases !== undefined && sameMapping(databases, after)
    return isDone ? [] : address
  })
  return [...skipped, ...left]
}
