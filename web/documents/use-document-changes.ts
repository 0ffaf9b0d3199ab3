import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { collectionsQuery } from '../app/queries.ts'
import type { StoredDocument } from './document-client.ts'
import { documentQuery, listKey } from './queries.ts'
import type { CollectionRef } from './use-documents-location.ts'

/** Returns functions that update cached queries after a change on this page. */
export function useDocumentChanges() {
  const queryClient = useQueryClient()
  return {
    /** Call it after a document was created or replaced. */
    stored: (collectionRef: CollectionRef, document: StoredDocument) => {
      queryClient.setQueryData(documentQuery(collectionRef, document.id).queryKey, document)
      invalidate(queryClient, collectionRef)
    },
  }
}

function invalidate(queryClient: QueryClient, collectionRef: CollectionRef): void {
  void queryClient.invalidateQueries({ queryKey: listKey(collectionRef) })
  void queryClient.invalidateQueries({
    queryKey: collectionsQuery(collectionRef.database).queryKey,
  })
}
