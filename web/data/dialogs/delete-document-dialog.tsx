import { useRef, useState } from 'react'
import { ConfirmDialog } from '../../ui/overlay/confirm-dialog.tsx'
import { ConflictError, type StoredDocument } from '../document-client.ts'
import { formatJson } from '../editor/document-text.ts'
import { JsonBlock } from '../editor/json-block.tsx'
import { findDocumentElement, findNeighbor } from '../find-document-element.ts'
import { deleteOne } from '../mutations/change-selected.ts'
import { useChangeSelected } from '../mutations/use-change-selected.ts'
import { type CollectionRef, useDataLocation } from '../use-data-location.ts'

/** Asks for confirmation before a document is deleted, and shows its content. */
export function DeleteDocumentDialog({
  collectionRef,
  document,
}: {
  collectionRef: CollectionRef
  document: StoredDocument
}) {
  const { id } = document
  const { close } = useDataLocation()
  const [now, setNow] = useState(document)
  const remove = useChangeSelected(collectionRef)
  /** The document that receives the focus when the dialog closes. */
  const next = useRef(id)
  const error =
    remove.error instanceof ConflictError ? CHANGED_MESSAGE : (remove.error?.message ?? '')
  const submit = () =>
    remove.mutate(() => deleteOne(collectionRef, now), {
      onSuccess: () => {
        next.current = findNeighbor(id) ?? ''
        close()
      },
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
      returnTo={() =>
        findDocumentElement(next.current) ??
        // Not the deleted document, which is about to disappear from the list.
        (next.current === id ? undefined : window.document.querySelector('main'))
      }
    >
      <p>You can undo this for ten seconds.</p>
      <JsonBlock label={`Document ${id} as JSON`} text={formatJson(now.json)} />
    </ConfirmDialog>
  )
}

const CHANGED_MESSAGE =
  'The document was not deleted because someone changed it. The current version is shown above.'
