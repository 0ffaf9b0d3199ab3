import { useQueryClient } from '@tanstack/react-query'
import { useReportedMutation } from '../../shared/reports/use-reported-mutation.ts'
import { collectionClient, JSON_TYPE, readStoredDocument } from '../document-client.ts'
import { type CollectionRef, formatCollection } from '../use-documents-location.ts'
import { showStored } from './document-toast.ts'

interface NewDocument {
  readonly collectionRef: CollectionRef
  readonly json: string
}

/**
 * Creates a document from JSON text.
 *
 * @throws ApiFailure 409 if its id is taken.
 */
async function createDocument({ collectionRef, json }: NewDocument) {
  const { param, collection } = collectionClient(collectionRef)
  return readStoredDocument(
    collection.$post({ param }, { headers: JSON_TYPE, init: { body: json } }),
  )
}

/** Creates a document. `onCreated` is called even if the component is unmounted. */
export function useCreateDocument({ onCreated }: { onCreated: () => void }) {
  const queryClient = useQueryClient()
  return useReportedMutation({
    mutationFn: createDocument,
    change: ({ collectionRef }) => ({
      what: `The new document of ${formatCollection(collectionRef)}`,
      done: 'created',
    }),
    onSuccess: (document, { collectionRef }) => {
      showStored(queryClient, collectionRef, document, { isNew: true })
      onCreated()
    },
  })
}
