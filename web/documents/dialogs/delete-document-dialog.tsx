import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiFailure } from '../../app/api.ts'
import { announce } from '../../shared/ui/feedback/announce.tsx'
import { ConfirmDialog } from '../../shared/ui/overlay/confirm-dialog.tsx'
import { deleteDocument, readDocument, type StoredDocument } from '../document-requests.ts'
import { formatJson } from '../editor/document-text.ts'
import { JsonBlock } from '../editor/json-block.tsx'
import { findDocumentLink } from '../find-document-link.ts'
import { useDocumentChanges } from '../use-document-changes.ts'
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
  const changes = useDocumentChanges()
  const [now, setNow] = useState(document)
  const [moved, setMoved] = useState(false)
  const isGone = (error: unknown) => error instanceof ApiFailure && error.status === 404
  const remove = useMutation({
    mutationFn: () => deleteDocument(collectionRef, now),
    onSuccess: () => done(),
    onError: async (error) => {
      if (!(error instanceof ApiFailure && [404, 412].includes(error.status))) return
      try {
        setNow(await readDocument(collectionRef, id))
        setMoved(true)
      } catch (reason) {
        // Another person deleted it first.
        if (!isGone(reason)) return
        done()
        close()
      }
    },
  })
  const done = () => {
    announce(`Document ${id} was deleted.`)
    changes.deleted(collectionRef, id)
  }
  const error = moved && remove.isError ? MOVED : (remove.error?.message ?? '')
  return (
    <ConfirmDialog
      title={`Delete document ${id}?`}
      name={id}
      keep="Keep it"
      error={error}
      confirm={{
        label: 'Delete document',
        busy: remove.isPending,
        // A callback of `mutate` does not run if the dialog was closed before the response.
        run: () => remove.mutate(undefined, { onSuccess: close }),
      }}
      onClose={close}
      returnTo={() => findDocumentLink(id)}
    >
      <p>It is deleted immediately and permanently.</p>
      <JsonBlock label={`Document ${id} as JSON`} text={formatJson(now.json)} />
    </ConfirmDialog>
  )
}

const MOVED =
  'The document was not deleted because someone changed it. The current version is shown above.'
