import { QueryClient } from '@tanstack/react-query'
import { ApiFailure } from './api.ts'

/**
 * The one cache of what the server told. Live events say when to look again, so nothing is read
 * anew merely because a page is opened or a window gets the focus.
 */
export const queryClient = new QueryClient({
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
