import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { collectionsQuery } from '../queries.ts'
import type { Stored } from './document-requests.ts'
import { documentQuery, documentsKey } from './queries.ts'
import type { Place } from './use-documents-location.ts'

/** Lets what is known follow a change that was made here. */
export function useDocumentChanges() {
  const queryClient = useQueryClient()
  return {
    /** A document was created, or has another state. */
    stored: (place: Place, document: Stored) => {
      queryClient.setQueryData(documentQuery(place, document.id).queryKey, document)
      readAnew(queryClient, place)
    },
    deleted: (place: Place, id: string) => {
      queryClient.removeQueries(documentQuery(place, id))
      readAnew(queryClient, place)
    },
  }
}

function readAnew(queryClient: QueryClient, place: Place): void {
  void queryClient.invalidateQueries({ queryKey: [...documentsKey(place), 'page'] })
  void queryClient.invalidateQueries({ queryKey: collectionsQuery(place.database).queryKey })
}
