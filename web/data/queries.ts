import { type QueryClient, queryOptions, useQuery } from '@tanstack/react-query'
import type { JobView } from '../../server/contract/job.ts'
import { collectionsQuery } from '../api/queries.ts'
import type { DataSearch } from './data-search.ts'
import { hasStatus } from './document-client.ts'
import {
  countDocuments,
  type DocumentsPage,
  readDocument,
  readIndexes,
  readJob,
  readPage,
  readSchema,
} from './document-requests.ts'
import { type CollectionRef, useDataLocation } from './use-data-location.ts'

// Documents without a feed emit no live events, so the queries refetch on mount and on focus.
const fresh = { staleTime: 0, refetchOnWindowFocus: true } as const

/** A page of a collection. */
export const documentsQuery = (
  collectionRef: CollectionRef,
  { filter, sort, after, cursor }: DataSearch,
) =>
  queryOptions({
    queryKey: [...pagesKey(collectionRef), { filter, sort, after, cursor }],
    queryFn: ({ signal }) => readPage(collectionRef, { filter, sort, after, cursor }, signal),
    // Another order or page of the same documents: the table stays, and keeps the focus.
    placeholderData: (page, before) =>
      isSameFilter(before?.queryKey.at(-1), filter) ? page : undefined,
    ...fresh,
  })

const isSameFilter = (key: unknown, filter: string | undefined): boolean =>
  (key as DataSearch | undefined)?.filter === filter

/** Returns all pages of a collection that were loaded. */
export const loadedPages = (queryClient: QueryClient, collectionRef: CollectionRef) =>
  queryClient
    .getQueriesData<DocumentsPage>({ queryKey: pagesKey(collectionRef) })
    .flatMap(([, page]) => page ?? [])

/** The number of documents that match a filter. */
export const countQuery = (collectionRef: CollectionRef, filter: string | undefined) =>
  queryOptions({
    queryKey: [...listKey(collectionRef), 'count', { filter }],
    queryFn: ({ signal }) => countDocuments(collectionRef, filter, signal),
    ...fresh,
    // A count may scan the whole collection.
    refetchOnWindowFocus: false,
  })

/** Returns the last count of a whole collection; undefined if a filter is set or it is not counted. */
export function useKnownCount({ database, collection }: CollectionRef): number | undefined {
  const { search } = useDataLocation()
  const { data = [] } = useQuery(collectionsQuery(database))
  if (search.filter !== undefined) return undefined
  return data.find(({ name }) => name === collection)?.documents ?? undefined
}

export const documentQuery = (collectionRef: CollectionRef, id: string) =>
  queryOptions({
    queryKey: [...documentsKey(collectionRef), 'one', id],
    queryFn: ({ signal }) => readDocument(collectionRef, id, signal),
    ...fresh,
  })

/** The stored version of a document that a form starts from, which is never a cached one. */
export const documentFormQuery = (collectionRef: CollectionRef, id: string) =>
  queryOptions({
    ...documentQuery(collectionRef, id),
    queryKey: [...documentsKey(collectionRef), 'one', id, 'form'],
    gcTime: 0,
    // Do not refetch a document under an open form. The server detects conflicts by ETag.
    refetchOnWindowFocus: false,
  })

/** The schema of a collection; null if it has none. A form starts from it, so it is not cached. */
export const schemaQuery = (collectionRef: CollectionRef) =>
  queryOptions({
    queryKey: [...documentsKey(collectionRef), 'schema'],
    queryFn: ({ signal }) => readSchema(collectionRef, signal),
    ...fresh,
    gcTime: 0,
    // Do not refetch a schema under an open form. The server detects conflicts by ETag.
    refetchOnWindowFocus: false,
  })

/** Poll interval while an index is built, in ms. */
const BUILD_MS = 1_000

/** The indexes of a collection. Live events refetch them; the progress of a build is polled. */
export const indexesQuery = (collectionRef: CollectionRef) =>
  queryOptions({
    queryKey: ['index', collectionRef.database, collectionRef.collection],
    queryFn: ({ signal }) => readIndexes(collectionRef, signal),
    ...fresh,
    refetchInterval: ({ state }) =>
      state.data?.some((index) => index.state === 'building') === true ? BUILD_MS : false,
  })

/** Poll interval of a job in ms. */
const JOB_MS = 500

interface JobState {
  readonly data: JobView | undefined
  readonly error: Error | null
}

/** Returns whether a job is polled: until it has ended, expired, or may not be read. */
export const isJobPolled = ({ data, error }: JobState): boolean =>
  (data === undefined || data.state === 'running') && !hasStatus(error, 401, 403, 404)

/** A job of a database, polled until it ends. */
export const jobQuery = (database: string, id: string) =>
  queryOptions({
    queryKey: ['job', database, id],
    queryFn: ({ signal }) => readJob(database, id, signal),
    refetchInterval: ({ state }) => (isJobPolled(state) ? JOB_MS : false),
    staleTime: 0,
  })

/** Prefix of the keys of all queries for a collection. */
export const documentsKey = ({ database, collection }: CollectionRef) => [
  'document',
  database,
  collection,
]

/** Prefix of the keys of all pages and counts of a collection. */
export const listKey = (collectionRef: CollectionRef) => [...documentsKey(collectionRef), 'list']

/** Prefix of the keys of all pages of a collection. */
export const pagesKey = (collectionRef: CollectionRef) => [...listKey(collectionRef), 'page']
