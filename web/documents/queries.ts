import { queryOptions } from '@tanstack/react-query'
import { parseFilter } from './document-filter.ts'
import { readDocument, readJob, readPage, readSchema } from './document-requests.ts'
import type { DocumentsSearch } from './documents-search.ts'
import type { Place } from './use-documents-location.ts'

// No live event tells of documents: they are read whenever they come into sight.
const fresh = { staleTime: 0, refetchOnWindowFocus: true } as const

/** A part of a collection. */
export const documentsQuery = (place: Place, { after, filter }: DocumentsSearch) =>
  queryOptions({
    queryKey: [...documentsKey(place), 'page', { after, filter }],
    queryFn: ({ signal }) =>
      readPage(
        place,
        { after, filter: filter === undefined ? undefined : parseFilter(filter) },
        signal,
      ),
    ...fresh,
  })

/** A document. */
export const documentQuery = (place: Place, id: string) =>
  queryOptions({
    queryKey: [...documentsKey(place), 'one', id],
    queryFn: ({ signal }) => readDocument(place, id, signal),
    ...fresh,
  })

/** The schema of a collection; null: it has none. */
export const schemaQuery = (place: Place) =>
  queryOptions({
    queryKey: [...documentsKey(place), 'schema'],
    queryFn: ({ signal }) => readSchema(place, signal),
    ...fresh,
    // What is being edited stays what it was; the server tells whether it has moved on.
    refetchOnWindowFocus: false,
  })

/** How often it is asked how far a job is, ms. */
const JOB_MS = 500

/** A job of a database, read until it has ended. */
export const jobQuery = (database: string, id: string) =>
  queryOptions({
    queryKey: ['job', database, id],
    queryFn: ({ signal }) => readJob(database, id, signal),
    refetchInterval: ({ state }) =>
      state.data?.state === 'running' || state.data === undefined ? JOB_MS : false,
    staleTime: 0,
  })

/** What is known of a collection begins so. */
export const documentsKey = ({ database, collection }: Place) => ['document', database, collection]
