import { type QueryClient, queryOptions } from '@tanstack/react-query'
import { answer, api, isSignedOut } from './api.ts'

declare module '@tanstack/react-query' {
  interface Register {
    queryMeta: {
      /** Reads anew only the parts of those names; without it, an event has the whole read anew. */
      readonly readAgain?: (queryClient: QueryClient, names: readonly string[]) => Promise<void>
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
