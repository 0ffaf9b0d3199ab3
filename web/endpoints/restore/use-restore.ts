import { useQueryClient } from '@tanstack/react-query'
import { useReportedMutation } from '../../shared/reports/use-reported-mutation.ts'
import { changeEndpoint } from '../endpoint-requests.ts'
import { showEndpointChange } from '../endpoint-toast.ts'
import type { ChangeGuard, EndpointChange } from '../guard/check-changes.ts'
import { refetchEndpoints } from '../refetch-endpoints.ts'

/** Restores an earlier state of an endpoint, and offers to undo it. */
export function useRestore() {
  const queryClient = useQueryClient()
  return useReportedMutation({
    change: ({ change: { address } }) => ({ what: `Endpoint ${address}`, done: 'restored' }),
    mutationFn: async ({ change }: { change: EndpointChange; guard: ChangeGuard }) => {
      const reason = await changeEndpoint(change)
      if (reason !== undefined) throw new Error(reason)
    },
    onSuccess: (_, { change, guard }) =>
      showEndpointChange(queryClient, change, guard, `${change.address} restored`),
    onSettled: (_, __, { change: { address } }) => void refetchEndpoints(queryClient, [address]),
  })
}
