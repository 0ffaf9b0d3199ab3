import { queryOptions } from '@tanstack/react-query'
import { parseFilter } from './document-filter.ts'
import { readDocument, readPage } from './document-requests.ts'
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

/** What is known of a collection begins so. */
export const documentsKey = ({ database, collection }: Place) => ['document', database, collection]
