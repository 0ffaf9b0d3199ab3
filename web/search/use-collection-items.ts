import {
  type QueryClient,
  type UseQueryResult,
  useQueries,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { useMemo } from 'react'
import type { CollectionList } from '../../server/contract/document.ts'
import { collectionsQuery, databasesQuery } from '../api/queries.ts'
import { useIsServedHere } from '../api/session/use-is-served-here.ts'
import { collectionItems, type Item } from './search-items.ts'

/** How long the search uses a list, ms. */
export const FRESH_MS = 60_000

export interface CollectionResults {
  readonly items: readonly Item[]
  readonly isLoading: boolean
  /** Why the collections of a database could not be loaded; null if all could be. */
  readonly error: Error | null
  /** Which collections are not searched; undefined if all are. */
  readonly unsearched: string | undefined
}

/** Returns the collections that a query searches. They are loaded once a query is entered. */
export function useCollectionItems(query: string): CollectionResults {
  const queryClient = useQueryClient()
  const { data: databases = [] } = useQuery(databasesQuery)
  const isServedHere = useIsServedHere()
  const hasQuery = query.trim() !== ''
  const served = databases.filter(isServedHere)
  const searched = searchedDatabases(served, query, loadedDatabases(queryClient))
  const { lists, isLoading, error } = useQueries({
    queries: searched.map((database) => ({
      ...collectionsQuery(database),
      enabled: hasQuery,
      staleTime: FRESH_MS,
      refetchOnWindowFocus: false,
    })),
    combine,
  })
  // Names of databases contain no slash.
  const names = searched.join('/')
  const items = useMemo(
    () =>
      names.split('/').flatMap((database, at) =>
        collectionItems(
          database,
          (lists[at] ?? []).map(({ name }) => name),
        ),
      ),
    [names, lists],
  )
  const unsearched = describeUnsearched({
    searched: searched.length,
    served: served.length,
    all: databases.length,
  })
  return { items, isLoading, error, unsearched }
}

/** Returns the databases whose collections are in the cache. */
const loadedDatabases = (queryClient: QueryClient): string[] =>
  queryClient
    .getQueriesData<CollectionList>({ queryKey: collectionsQuery('').queryKey.slice(0, -1) })
    .flatMap(([key, list]) => (list === undefined ? [] : [String(key.at(-1))]))

/** A function that stays the same, so that unchanged lists stay the same value. */
const combine = (results: readonly UseQueryResult<CollectionList>[]) => ({
  lists: results.map(({ data }) => data),
  isLoading: results.some(({ isLoading }) => isLoading),
  error: results.find(({ error }) => error !== null)?.error ?? null,
})

/** Maximum number of databases whose collections are searched at the same time. */
export const MAX_DATABASES = 20

/**
 * Returns the databases whose collections a query searches: all of them up to {@link MAX_DATABASES};
 * otherwise those that the query names before a slash, then those whose collections are loaded.
 *
 * @param loaded the databases whose collections are in the cache.
 */
export function searchedDatabases(
  databases: readonly string[],
  query: string,
  loaded: readonly string[],
): readonly string[] {
  if (databases.length <= MAX_DATABASES) return databases
  const [name, ...rest] = query.toLowerCase().split('/')
  const isNamed = (database: string) => rest.length > 0 && database.toLowerCase() === name?.trim()
  const known = databases.filter((each) => !isNamed(each) && loaded.includes(each))
  return [...databases.filter(isNamed), ...known].slice(0, MAX_DATABASES)
}

interface SearchedCount {
  /** Number of databases whose collections are searched. */
  readonly searched: number
  /** Number of databases that the endpoint of the page serves. */
  readonly served: number
  readonly all: number
}

/** Returns which collections are not searched; undefined if all are. */
export function describeUnsearched({ searched, served, all }: SearchedCount): string | undefined {
  if (searched === 0 && served > 0) {
    return 'Collections are not searched. To search those of a database, type its name and a slash, such as shop/.'
  }
  if (searched < served) {
    return `Collections of ${searched} of ${served} databases are searched. To search those of another, type its name and a slash, such as shop/.`
  }
  if (served === all) return undefined
  const others = all - served
  return `Collections of ${others} ${others === 1 ? 'database' : 'databases'} are not searched, because the endpoint that you are connected through does not serve ${others === 1 ? 'it' : 'them'}.`
}
