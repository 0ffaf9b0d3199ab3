import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { ApiFailure, isSignedOut } from './api.ts'
import { sessionQuery } from './queries.ts'

/** Whatever was asked: a 401 means that the session has ended, and the whole page learns of it. */
function noteSignedOut(error: Error): void {
  if (isSignedOut(error)) queryClient.setQueryData(sessionQuery.queryKey, null)
}

/**
 * The one cache of what the server told. Live events say when to look again, so nothing is read
 * anew merely because a page is opened or a window gets the focus.
 */
export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: noteSignedOut }),
  mutationCache: new MutationCache({ onError: noteSignedOut }),
  defaultOptions: {
    queries: {
      staleTime: Number.POSITIVE_INFINITY,
      refetchOnWindowFocus: false,
      refetchOnReconnect: false,
      // A server on this machine is there without any network.
      networkMode: 'always',
      // A refusal stays one however often it is asked for; silence and faults may pass.
      retry: (failures, error) =>
        failures < 2 && !(error instanceof ApiFailure && error.status < 500),
      retryDelay: (failures) => 300 * 2 ** failures,
    },
    mutations: { networkMode: 'always', retry: false },
  },
})
