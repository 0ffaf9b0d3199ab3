import { useReportedMutation } from '../../shared/reports/use-reported-mutation.ts'
import { announce } from '../../shared/ui/feedback/announce.tsx'
import { collectionClient, JSON_TYPE, readStoredDocument } from '../document-client.ts'
import { useDocumentChanges } from '../use-document-changes.ts'
import { type CollectionRef, formatCollection } from '../use-documents-location.ts'

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
  const changes = useDocumentChanges()
  return useReportedMutation({
    mutationFn: createDocument,
    change: ({ collectionRef }) => ({
      what: `The new document of ${formatCollection(collectionRef)}`,
      done: 'created',
    }),
    onSuccess: (document, { collectionRef }) => {
      announce(`Document ${document.id} was created.`)
      changes.stored(collectionRef, document)
      onCreated()
    },
  })
}
