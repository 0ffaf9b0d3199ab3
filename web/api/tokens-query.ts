import { queryOptions } from '@tanstack/react-query'
import { api, pollWhileSignedIn, readJson } from './client.ts'

/** Poll interval in milliseconds. People watch whether a token is still used. */
const POLL_MS = 5_000

/** The person's own tokens or, for admins, all tokens. */
export const tokensQuery = (whose: 'own' | 'everybody') =>
  queryOptions({
    queryKey: ['token', whose],
    queryFn: ({ signal }) => {
      const query = whose === 'everybody' ? { everybody: 'true' as const } : {}
      return readJson(api._api.token.$get({ query }, { init: { signal } }))
    },
    staleTime: 0,
    refetchInterval: pollWhileSignedIn(POLL_MS),
  })
