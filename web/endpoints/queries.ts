import { queryOptions } from '@tanstack/react-query'
import { answer, api, whileSignedIn } from '../api.ts'

// The first part of each key is the type of the live event after which it is read anew
// (web/live/invalidate-soon.ts).

/** Counters are read this often, in milliseconds, while the page is in sight. */
const COUNTERS_MS = 3_000

/** The endpoints as they are configured. */
export const endpointsQuery = queryOptions({
  queryKey: ['endpoint'],
  queryFn: ({ signal }) => answer(api._api.endpoint.$get({}, { init: { signal } })),
})

/** What runs: states by live events, counters every few seconds. */
export const listenersQuery = queryOptions({
  queryKey: ['listener'],
  queryFn: ({ signal }) => answer(api._api.listener.$get({}, { init: { signal } })),
  refetchInterval: whileSignedIn(COUNTERS_MS),
})

/** The addresses of this machine, for the form; they change without an event, so it asks anew. */
export const addressesQuery = queryOptions({
  queryKey: ['address'],
  queryFn: ({ signal }) => answer(api._api.address.$get({}, { init: { signal } })),
  staleTime: 0,
})
