import { useState } from 'react'
import { ConfirmDialog } from '../../shared/ui/overlay/confirm-dialog.tsx'
import type { StoredDocument } from '../document-client.ts'
import { formatJson } from '../editor/document-text.ts'
import { JsonBlock } from '../editor/json-block.tsx'
import { findDocumentLink } from '../find-document-link.ts'
import { ConflictError } from '../mutations/conflict-error.ts'
import { useDeleteDocument } from '../mutations/delete-document.ts'
import { type CollectionRef, useDocumentsLocation } from '../use-documents-location.ts'

/** Asks for confirmation before a document is deleted, and shows its content. */
export function DeleteDocumentDialog({
  collectionRef,
  document,
}: {
  collectionRef: CollectionRef
  document: StoredDocument
}) {
  const { id } = document
  const { close } = useDocumentsLocation()
  const [now, setNow] = useState(document)
  const remove = useDeleteDocument(collectionRef)
  const error =
    remove.error instanceof ConflictError ? CHANGED_MESSAGE : (remove.error?.message ?? '')
  const submit = () =>
    remove.mutate(now, {
      // Not called if the dialog was closed before the response.
      onSuccess: close,
      onError: (reason) => {
        if (reason instanceof ConflictError) setNow({ id, ...(reason.current ?? now) })
      },
    })
  return (
    <ConfirmDialog
      title={`Delete document ${id}?`}
      name={id}
      keep="Keep it"
      error={error}
      confirm={{
        label: remove.isPending ? 'Deleting…' : 'Delete document',
        busy: remove.isPending,
        run: submit,
      }}
      onClose={close}
      returnTo={() => findDocumentLink(id)}
    >
      <p>It is deleted immediately and permanently.</p>
      <JsonBlock label={`Document ${id} as JSON`} text={formatJson(now.json)} />
    </ConfirmDialog>
  )
}

const CHANGED_MESSAGE =
  'The document was not deleted because someone changed it. The current version is shown above.'
