import { useQueryClient } from '@tanstack/react-query'
import { useReportedMutation } from '../../shared/reports/use-reported-mutation.ts'
import {
  ConflictError,
  documentClient,
  hasStatus,
  JSON_TYPE,
  readStoredDocument,
  type StoredDocument,
} from '../document-client.ts'
import { readCurrent } from '../document-requests.ts'
import { sameDocument } from '../editor/document-text.ts'
import { type CollectionRef, formatCollection } from '../use-data-location.ts'
import { showStored } from './document-toast.ts'

interface DocumentSave {
  readonly id: string
  readonly json: string
  /** The ETag of the version to replace; undefined creates the document again. */
  readonly etag: string | undefined
  /** The version to replace, which Undo restores; undefined if it is not known. */
  readonly before: StoredDocument | undefined
}

/**
 * Replaces a document, or creates it again.
 *
 * @throws ConflictError if the document was changed, deleted, or created by someone else.
 */
async function saveDocument(collectionRef: CollectionRef, save: DocumentSave) {
  const { id, json, etag } = save
  const { param, document } = documentClient(collectionRef, id)
  const condition: Record<string, string> =
    etag === undefined ? { 'If-None-Match': '*' } : { 'If-Match': etag }
  const headers = { ...JSON_TYPE, ...condition }
  try {
    return await readStoredDocument(document.$put({ param }, { headers, init: { body: json } }))
  } catch (error) {
    if (!hasStatus(error, 404, 412)) throw error
    const current = await readCurrent(collectionRef, id)
    // The response to an earlier save was lost, but the server stored the document.
    if (current !== null && sameDocument(current.json, json)) return current
    throw new ConflictError(current)
  }
}

/** Saves a document. `onSaved` is called even if the component is unmounted. */
export function useSaveDocument(
  collectionRef: CollectionRef,
  { onSaved }: { onSaved: () => void },
) {
  const queryClient = useQueryClient()
  return useReportedMutation({
    mutationFn: (save: DocumentSave) => saveDocument(collectionRef, save),
    change: ({ id }) => ({
      what: `Document ${id} of ${formatCollection(collectionRef)}`,
      done: 'saved',
    }),
    onSuccess: (document, { etag, before }) => {
      showStored(queryClient, collectionRef, document, { isNew: etag === undefined, before })
      onSaved()
    },
  })
}
