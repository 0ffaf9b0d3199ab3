import { queryOptions } from '@tanstack/react-query'
import { answer, api } from '../api.ts'
import { parseFilter } from './document-filter.ts'
import { readDocument, readPage } from './document-requests.ts'
import type { DocumentsSearch } from './documents-search.ts'
import type { Place } from './use-documents-location.ts'

// No live event tells of documents: they are read whenever they come into sight.
const fresh = { staleTime: 0, refetchOnWindowFocus: true } as const

/** The names of a database's collections. Read anew also when a database was created or dropped. */
export const collectionsQuery = (database: string) =>
  queryOptions({
    queryKey: ['database', 'collections', database],
    queryFn: ({ signal }) =>
      answer(api._api.collection.$get({ query: { database } }, { init: { signal } })),
    select: (collections) => collections.map(({ name }) => name),
    ...fresh,
  })

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

/** What is known of a collection begins so. */
export const documentsKey = ({ database, collection }: Place) => ['document', database, collection]
