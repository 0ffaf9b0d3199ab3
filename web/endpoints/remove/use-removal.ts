import { useQueryClient } from '@tanstack/react-query'
import type { EndpointRecord } from '../../../server/contract/endpoints/endpoint.ts'
import { useReportedMutation } from '../../shared/reports/use-reported-mutation.ts'
import { announce } from '../../shared/ui/feedback/announce.tsx'
import { deleteEndpoint } from '../endpoint-requests.ts'
import type { ChangeGuard } from '../guard/check-changes.ts'
import type { EndpointRow } from '../model/endpoint-rows.ts'
import { undo } from '../model/undo.ts'
import { endpointsQuery } from '../queries.ts'
import { refetchEndpoints } from '../refetch-endpoints.ts'
import { preloadUndo } from './undo-outlet.tsx'

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
    mutationFn: async ({ row, guard }: RemovalInput) => {
      // The change disconnects this page, so the bar must be loaded before it.
      if (guard.disconnects) await preloadUndo()
      return deleteEndpoint(row.address, row.revision)
    },
    onSuccess: (removed, { row, guard: { disconnects, otherConsole } }) => {
      const { address } = row
      announce(`${address} was removed.`)
      // Remove it from the cache at once: a disconnected page cannot refetch the list.
      queryClient.setQueryData(endpointsQuery.queryKey, (list: EndpointRecord[] | undefined) =>
        list?.filter(({ endpoint }) => endpoint !== address),
      )
      const change = { address, before: row.databases ?? [], after: null }
      // Don't offer to undo a removal by another user.
      if (removed && !disconnects) undo.offer([change])
      if (otherConsole !== undefined) undo.offerConsole(change, otherConsole)
      void refetchEndpoints(queryClient, [address])
    },
  })
}
