import { useQueryClient } from '@tanstack/react-query'
import { useReportedMutation } from '../../shared/reports/use-reported-mutation.ts'
import { announce } from '../../shared/ui/feedback/announce.tsx'
import { changeEndpoint } from '../endpoint-requests.ts'
import type { ChangeGuard, EndpointChange } from '../guard/check-changes.ts'
import { undo } from '../model/undo.ts'
import { refetchEndpoints } from '../refetch-endpoints.ts'
import { preloadUndo } from '../remove/undo-outlet.tsx'

/** Restores an earlier state of an endpoint, and offers to undo it. */
export function useRestore() {
  const queryClient = useQueryClient()
  return useReportedMutation({
    change: ({ change: { address } }) => ({ what: `Endpoint ${address}`, done: 'restored' }),
    mutationFn: async ({ change, guard }: { change: EndpointChange; guard: ChangeGuard }) => {
      // The change disconnects this page, so the bar must be loaded before it.
      if (guard.disconnects) await preloadUndo()
      const reason = await changeEndpoint(change)
      if (reason !== undefined) throw new Error(reason)
    },
    onSuccess: (_, { change, guard }) => {
      announce(`${change.address} was restored.`)
      if (!guard.disconnects) undo.offer([change])
      if (guard.otherConsole !== undefined) undo.offerConsole(change, guard.otherConsole)
    },
    onSettled: (_, __, { change: { address } }) => void refetchEndpoints(queryClient, [address]),
  })
}
