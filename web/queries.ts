import { type QueryClient, queryOptions } from '@tanstack/react-query'
import type { EndpointRecord } from '../server/contract/endpoint.ts'
import { answer, api, isSignedOut } from './api.ts'
import { mergeParts } from './merge-parts.ts'

declare module '@tanstack/react-query' {
  interface Register {
    queryMeta: {
      /** Reads anew only the parts of those names; without it, an event has the whole read anew. */
      readonly readAgain?: (queryClient: QueryClient, names: readonly string[]) => Promise<void>
      /** Its rows change only where somebody asks for it, not even after a gap in the events. */
      readonly standsStill?: boolean
    }
  }
}

// The queries that several features share. The first part of each key is the type of the live event
// after which it is read anew (web/live/invalidate-soon.ts); no event tells of sessions.

/** Who is signed in; null: nobody. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: ({ signal }) =>
    answer(api._api.session.$get({}, { init: { signal } })).catch((error: unknown) => {
      if (isSignedOut(error)) return null
      throw error
    }),
})

/** Every database, by name. */
export const databasesQuery = queryOptions({
  queryKey: ['database'],
  queryFn: ({ signal }) => answer(api._api.database.$get({}, { init: { signal } })),
  select: (databases) => databases.map(({ name }) => name),
})

/** The endpoints as they are configured. */
export const endpointsQuery = queryOptions({
  queryKey: ['endpoint'],
  queryFn: ({ signal }) => answer(api._api.endpoint.$get({ query: {} }, { init: { signal } })),
  meta: {
    readAgain: async (queryClient: QueryClient, names: readonly string[]) => {
      const fresh = await answer(api._api.endpoint.$get({ query: { endpoint: [...names] } }))
      queryClient.setQueryData(
        ['endpoint'],
        (now: EndpointRecord[] | undefined) => now && mergeParts(now, names, fresh),
      )
    },
  },
})

/**
 * The collections of a database, with what they hold. No live event tells of documents: they are read
 * whenever they come into sight, and when a database was created or dropped.
 */
export const collectionsQuery = (database: string) =>
  queryOptions({
    queryKey: ['database', 'collections', database],
    queryFn: ({ signal }) =>
      answer(api._api.collection.$get({ query: { database } }, { init: { signal } })),
    staleTime: 0,
    refetchOnWindowFocus: true,
  })
