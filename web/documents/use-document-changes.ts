import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { collectionsQuery } from '../app/queries.ts'
import type { Stored } from './document-requests.ts'
import { documentQuery, documentsKey } from './queries.ts'
import type { Place } from './use-documents-location.ts'

/** Returns functions that update cached queries after a change on this page. */
export function useDocumentChanges() {
  const queryClient = useQueryClient()
  return {
    /** Call it after a document was created or replaced. */
    stored: (place: Place, document: Stored) => {
      queryClient.setQueryData(documentQuery(place, document.id).queryKey, document)
      invalidate(queryClient, place)
    },
    deleted: (place: Place, id: string) => {
      queryClient.removeQueries(documentQuery(place, id))
      invalidate(queryClient, place)
    },
  }
}

function invalidate(queryClient: QueryClient, place: Place): void {
  void queryClient.invalidateQueries({ queryKey: [...documentsKey(place), 'page'] })
  void queryClient.invalidateQueries({ queryKey: collectionsQuery(place.database).queryKey })
}
