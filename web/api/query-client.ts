import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { ApiFailure, isSignedOut, NoResponse } from './client.ts'
import { ResponseTimeout } from './fetch-with-timeout.ts'
import { healthQuery, sessionQuery } from './queries.ts'

/** Marks the session as ended after a 401 to any request. */
function noteSignedOut(error: Error): void {
  if (!isSignedOut(error)) return
  const isFetching = queryClient.isFetching(sessionQuery) > 0
  queryClient.setQueryData(sessionQuery.queryKey, null)
  // The server may have sent the session before it ended.
  if (isFetching) void queryClient.refetchQueries(sessionQuery)
}

/** Returns whether the server could not store a change (503) or has no space for it (507). */
const isStoreFailure = (error: Error): boolean =>
  error instanceof ApiFailure && (error.status === 503 || error.status === 507)

/**
 * The only query cache. Live events invalidate it, so opening or focusing a page refetches nothing.
 */
export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: noteSignedOut }),
  mutationCache: new MutationCache({
    onError(error) {
      noteSignedOut(error)
      // Refetches the health at once, so that the banner appears before the next poll.
      if (isStoreFailure(error)) void queryClient.invalidateQueries(healthQuery)
    },
  }),
  defaultOptions: {
    queries: {
      staleTime: Number.POSITIVE_INFINITY,
      refetchOnWindowFocus: false,
      refetchOnReconnect: false,
      // A server on this machine is reachable without a network.
      networkMode: 'always',
      // A rejected request fails again, and a timeout has already waited long enough.
      retry: (failures, error) =>
        failures < 2 &&
        !(error instanceof ApiFailure && error.status < 500) &&
        !(error instanceof NoResponse && error.cause instanceof ResponseTimeout),
      retryDelay: (failures) => 300 * 2 ** failures,
    },
    mutations: { networkMode: 'always', retry: false },
  },
})
