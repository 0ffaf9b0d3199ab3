import { queryOptions } from '@tanstack/react-query'
import { readDocument, readJob, readPage, readSchema } from './document-requests.ts'
import type { DocumentsSearch } from './documents-search.ts'
import { parseFilter } from './table/document-filter.ts'
import type { CollectionRef } from './use-documents-location.ts'

// Documents emit no live events, so the queries refetch on mount and on focus.
const fresh = { staleTime: 0, refetchOnWindowFocus: true } as const

/** A page of a collection. */
export const documentsQuery = (collectionRef: CollectionRef, { after, filter }: DocumentsSearch) =>
  queryOptions({
    queryKey: [...documentsKey(collectionRef), 'page', { after, filter }],
    queryFn: ({ signal }) =>
      readPage(
        collectionRef,
        { after, filter: filter === undefined ? undefined : parseFilter(filter) },
        signal,
      ),
    ...fresh,
  })

export const documentQuery = (collectionRef: CollectionRef, id: string) =>
  queryOptions({
    queryKey: [...documentsKey(collectionRef), 'one', id],
    queryFn: ({ signal }) => readDocument(collectionRef, id, signal),
    ...fresh,
  })

/** The schema of a collection; null if it has none. */
export const schemaQuery = (collectionRef: CollectionRef) =>
  queryOptions({
    queryKey: [...documentsKey(collectionRef), 'schema'],
    queryFn: ({ signal }) => readSchema(collectionRef, signal),
    ...fresh,
    // Do not refetch a schema under an open form. The server detects conflicts by ETag.
    refetchOnWindowFocus: false,
  })

/** Poll interval of a job in ms. */
const JOB_MS = 500

/** A job of a database, polled until it ends. */
export const jobQuery = (database: string, id: string) =>
  queryOptions({
    queryKey: ['job', database, id],
    queryFn: ({ signal }) => readJob(database, id, signal),
    refetchInterval: ({ state }) =>
      state.data?.state === 'running' || state.data === undefined ? JOB_MS : false,
    staleTime: 0,
  })

/** Prefix of the keys of all queries for a collection. */
export const documentsKey = ({ database, collection }: CollectionRef) => [
  'document',
  database,
  collection,
]
