import { useMutation, useQueryClient } from '@tanstack/react-query'
import { answer, api } from '../api.ts'
import { announce } from '../ui/announce.tsx'
import { listenersQuery } from './queries.ts'

/** What can be done with what runs: try a failed one now, cut what is left of a removed one. */
export function useListenerActions() {
  const queryClient = useQueryClient()
  const { mutate, error, variables } = useMutation({
    mutationFn: ({ action, address }: { action: 'retry' | 'close'; address: string }) => {
      const listener = api._api.listener[':address{.+}'][action]
      return answer(listener.$post({ param: { address: encodeURIComponent(address) } }))
    },
    onSuccess: (_, { action, address }) =>
      announce(action === 'retry' ? `${address} is open.` : `${address} is closed.`),
    onSettled: () => queryClient.invalidateQueries({ queryKey: listenersQuery.queryKey }),
  })
  return {
    retry: (address: string) => mutate({ action: 'retry', address }),
    cut: (address: string) => mutate({ action: 'close', address }),
    /** Why the last one could not be done. */
    problem: error === null ? undefined : `${variables?.address}: ${error.message}`,
  }
}
