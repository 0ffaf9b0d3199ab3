import { type QueryClient, queryOptions } from '@tanstack/react-query'
import type { ListenerStatus } from '../../server/contract/listener.ts'
import { answer, api, whileSignedIn } from '../api.ts'
import { mergeParts } from '../merge-parts.ts'

export { endpointsQuery } from '../queries.ts'

// The first part of each key is the type of the live event after which it is read anew
// (web/live/invalidate-soon.ts): of the two long lists, only what the events named.

/** The figures of the rows in sight are read this often, in milliseconds: the server's own step. */
const FIGURES_MS = 5_000
/** How many steps of the past a row's line shows. */
const RECENT = 24

/** What runs, in whole. Its counters are as old as the reading: see {@link figuresQuery}. */
export const listenersQuery = queryOptions({
  queryKey: ['listener'],
  queryFn: ({ signal }) => answer(api._api.listener.$get({ query: {} }, { init: { signal } })),
  meta: {
    readAgain: async (queryClient: QueryClient, names: readonly string[]) => {
      const fresh = await answer(api._api.listener.$get({ query: { endpoint: [...names] } }))
      queryClient.setQueryData(
        ['listener'],
        (now: ListenerStatus[] | undefined) => now && mergeParts(now, names, fresh),
      )
    },
  },
})

/** What runs of the rows in sight, with the requests of the last two minutes where `recent`. */
export const figuresQuery = (addresses: readonly string[], recent: boolean) =>
  queryOptions({
    queryKey: ['figures', addresses, recent],
    queryFn: ({ signal }) => {
      const query = { endpoint: [...addresses], ...(recent && { recent: `${RECENT}` }) }
      return answer(api._api.listener.$get({ query }, { init: { signal } }))
    },
    enabled: addresses.length > 0,
    refetchInterval: whileSignedIn(FIGURES_MS),
    gcTime: 0,
    // The next reading comes soon enough.
    retry: false,
  })

/** The addresses of this machine, for the form; they change without an event, so it asks anew. */
export const addressesQuery = queryOptions({
  queryKey: ['address'],
  queryFn: ({ signal }) => answer(api._api.address.$get({}, { init: { signal } })),
  staleTime: 0,
})
