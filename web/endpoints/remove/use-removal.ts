import { useQueryClient } from '@tanstack/react-query'
import type { EndpointRecord } from '../../../server/contract/endpoints/endpoint.ts'
import { useReportedMutation } from '../../shared/reports/use-reported-mutation.ts'
import { deleteEndpoint } from '../endpoint-requests.ts'
import { showEndpointChange } from '../endpoint-toast.ts'
import type { ChangeGuard } from '../guard/check-changes.ts'
import type { EndpointRow } from '../model/endpoint-rows.ts'
import { endpointsQuery } from '../queries.ts'
import { refetchEndpoints } from '../refetch-endpoints.ts'

/** An endpoint to remove, with the result of {@link checkChanges}. */
export interface RemovalInput {
  readonly row: EndpointRow
  readonly guard: ChangeGuard
}

/**
 * Removes an endpoint. Then offers to undo it or, if the page is disconnected, links to the console
 * at another endpoint.
 */
export function useRemoval() {
  const queryClient = useQueryClient()
  return useReportedMutation({
    change: ({ row }) => ({ what: `Endpoint ${row.address}`, done: 'removed' }),
    mutationFn: ({ row }: RemovalInput) => deleteEndpoint(row.address, row.revision),
    onSuccess: (removed, { row, guard }) => {
      const { address } = row
      // Remove it from the cache at once: a disconnected page cannot refetch the list.
      queryClient.setQueryData(endpointsQuery.queryKey, (list: EndpointRecord[] | undefined) =>
        list?.filter(({ endpoint }) => endpoint !== address),
      )
      // Don't offer to undo a removal by another user.
      const before = removed ? (row.databases ?? []) : null
      showEndpointChange(queryClient, { address, before, after: null }, guard)
      void refetchEndpoints(queryClient, [address])
    },
  })
}
