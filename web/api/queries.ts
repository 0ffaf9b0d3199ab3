import { type QueryClient, queryOptions } from '@tanstack/react-query'
import { LAST_EVENT_HEADER } from '../../server/contract/access/session.ts'
import type { CollectionList } from '../../server/contract/document.ts'
import type { EndpointRecord } from '../../server/contract/endpoints/endpoint.ts'
import type { PolicyRecord } from '../../server/contract/endpoints/policy.ts'
import { compareNames } from '../ui/text/compare-names.ts'
import { api, isSignedOut, pollWhileSignedIn, readJson } from './client.ts'
import { mergeEntries } from './merge-entries.ts'

declare module '@tanstack/react-query' {
  interface Register {
    queryMeta: {
      /**
       * Refetches only the entries of the named endpoints. Without it, a live event refetches the
       * whole query.
       */
      readonly refetchEndpoints?: (
        queryClient: QueryClient,
        names: readonly string[],
      ) => Promise<void>
      /**
       * Excludes the query from the refetch after a gap in the live events, unless it has no data.
       */
      readonly excludeFromReset?: boolean
    }
  }
}

// Queries that several features share. The first part of each key is the type of the live event
// that refetches the query (web/api/live/invalidate-soon.ts). Sessions have no live event.

let lastEvent: string | undefined

/** Returns the id of the last live event before the session was read; undefined before that. */
export const lastEventId = (): string | undefined => lastEvent

/** The signed-in user; null if no one is signed in. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async ({ signal }) => {
    const response = api._api.session.$get({}, { init: { signal } })
    try {
      const session = await readJson(response)
      lastEvent = (await response).headers.get(LAST_EVENT_HEADER) ?? undefined
      return session
    } catch (error) {
      if (isSignedOut(error)) return null
      throw error
    }
  },
})

/** Polling interval of the health, ms. 1,000 open pages send 67 small requests per second. */
const HEALTH_MS = 15_000

/**
 * Whether the server can store changes. Polled, and refetched after the server rejects a change.
 */
export const healthQuery = queryOptions({
  queryKey: ['health'],
  // Unlike the readiness check, this resource responds with 200 while the node is not ready.
  queryFn: ({ signal }) => readJson(api._api.health.live.$get({}, { init: { signal } })),
  refetchInterval: HEALTH_MS,
  refetchOnWindowFocus: true,
  staleTime: HEALTH_MS,
})

/** The names of all databases, in natural order. */
export const databasesQuery = queryOptions({
  queryKey: ['database'],
  queryFn: ({ signal }) => readJson(api._api.database.$get({}, { init: { signal } })),
  select: (databases) => databases.map(({ name }) => name).sort(compareNames),
})

/** The configured endpoints. */
export const endpointsQuery = queryOptions({
  queryKey: ['endpoint'],
  queryFn: ({ signal }) => readJson(api._api.endpoint.$get({ query: {} }, { init: { signal } })),
  meta: {
    refetchEndpoints: async (queryClient: QueryClient, names: readonly string[]) => {
      const fresh = await readJson(api._api.endpoint.$get({ query: { endpoint: [...names] } }))
      queryClient.setQueryData(
        ['endpoint'],
        (now: EndpointRecord[] | undefined) => now && mergeEntries(now, names, fresh),
      )
    },
  },
})

/** The policies of endpoints, which only operators may read. Most endpoints have none. */
export const policiesQuery = queryOptions({
  queryKey: ['endpoint', 'policy'],
  // Without an address, the response is the list.
  queryFn: ({ signal }) =>
    readJson(api._api.policy.$get({ query: {} }, { init: { signal } })) as Promise<PolicyRecord[]>,
})

const sortCollections = (collections: CollectionList): CollectionList =>
  collections.toSorted((a, b) => compareNames(a.name, b.name))

/**
 * The collections of a database in natural order, with their document counts. Documents have no live
 * events, so this query is refetched when it is shown and when a database is created or dropped.
 */
export const collectionsQuery = (database: string) =>
  queryOptions({
    queryKey: ['database', 'collections', database],
    queryFn: ({ signal }) =>
      readJson(api._api.collection.$get({ query: { database } }, { init: { signal } })),
    // Outside, so that it runs only when the data changes.
    select: sortCollections,
    staleTime: 0,
    refetchOnWindowFocus: true,
  })

/** Polling interval of the people, ms. Their sessions have no live event. */
const PEOPLE_MS = 60_000

/** All people who have ever signed in, for admins. People waiting for a role come first. */
export const peopleQuery = queryOptions({
  queryKey: ['person'],
  queryFn: ({ signal }) => readJson(api._api.user.$get({}, { init: { signal } })),
  staleTime: 0,
  refetchInterval: pollWhileSignedIn(PEOPLE_MS),
})

/** Polling interval of tokens, ms. People watch whether a token is still used. */
const TOKENS_MS = 5_000

/** The person's own tokens or, for admins, all tokens. */
export const tokensQuery = (whose: 'own' | 'everybody') =>
  queryOptions({
    queryKey: ['token', whose],
    queryFn: ({ signal }) => {
      const query = whose === 'everybody' ? { everybody: 'true' as const } : {}
      return readJson(api._api.token.$get({ query }, { init: { signal } }))
    },
    staleTime: 0,
    refetchInterval: pollWhileSignedIn(TOKENS_MS),
  })

/** Polling interval of the nodes while there are several, ms. It detects unreachable nodes. */
const POLL_MS = 10_000

/** The nodes that share the store. Listener events refetch the list. */
export const nodesQuery = queryOptions({
  queryKey: ['listener', 'nodes'],
  queryFn: ({ signal }) => readJson(api._api.node.$get({}, { init: { signal } })),
  refetchInterval: (query) =>
    (query.state.data?.length ?? 0) > 1 ? pollWhileSignedIn(POLL_MS)(query) : false,
})
