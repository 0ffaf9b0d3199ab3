import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { api, readJson } from '../api/client.ts'
import { showToast } from '../shared/toast/toast.ts'
import { listenersQuery } from './queries.ts'

/**
 * Returns the actions on listeners: retry a failed one, or close the connections of a removed
 * endpoint.
 */
export function useListenerActions() {
  const queryClient = useQueryClient()
  const { mutate, error, variables } = useMutation({
    mutationFn: ({ action, address }: { action: 'retry' | 'close'; address: string }) =>
      readJson(api._api.listener[action].$post({ query: { endpoint: address } })),
    onSuccess: (_, { action, address }) =>
      showToast({ text: `${address} ${action === 'retry' ? 'opened' : 'closed'}`, name: address }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: listenersQuery.queryKey }),
  })
  const { data: isUnchanged } = useQuery({
    ...listenersQuery,
    enabled: error !== null,
    select: (list) => {
      const state = variables?.action === 'retry' ? 'failed' : 'draining'
      return list.some((one) => one.endpoint === variables?.address && one.state === state)
    },
  })
  return {
    retry: (address: string) => mutate({ action: 'retry', address }),
    closeConnections: (address: string) => mutate({ action: 'close', address }),
    /** The error of the last action, until the endpoint is open or closed after all. */
    problem:
      error === null || isUnchanged === false
        ? undefined
        : `${variables?.address}: ${error.message}`,
  }
}
