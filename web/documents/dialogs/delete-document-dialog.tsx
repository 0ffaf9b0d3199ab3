import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiFailure } from '../../app/api.ts'
import { announce } from '../../shared/ui/feedback/announce.tsx'
import { ConfirmDialog } from '../../shared/ui/overlay/confirm-dialog.tsx'
import { deleteDocument, readDocument, type Stored } from '../document-requests.ts'
import { pretty } from '../editor/document-text.ts'
import { JsonBlock } from '../editor/json-block.tsx'
import { findDocument } from '../find-document-link.ts'
import { useDocumentChanges } from '../use-document-changes.ts'
import { type Place, useDocumentsLocation } from '../use-documents-location.ts'

/** Asks for confirmation before a document is deleted, and shows its content. */
export function DeleteDocumentDialog({ place, document }: { place: Place; document: Stored }) {
  const { id } = document
  const { close } = useDocumentsLocation()
  const changes = useDocumentChanges()
  const [now, setNow] = useState(document)
  const [moved, setMoved] = useState(false)
  const isGone = (error: unknown) => error instanceof ApiFailure && error.status === 404
  const remove = useMutation({
    mutationFn: () => deleteDocument(place, now),
    onSuccess: () => done(),
    onError: async (error) => {
      if (!(error instanceof ApiFailure && [404, 412].includes(error.status))) return
      try {
        setNow(await readDocument(place, id))
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
    changes.deleted(place, id)
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
      returnTo={() => findDocument(id)}
    >
      <p>It is deleted immediately and permanently.</p>
      <JsonBlock label={`Document ${id} as JSON`} text={pretty(now.json)} />
    </ConfirmDialog>
  )
}

const MOVED =
  'The document was not deleted because someone changed it. The current version is shown above.'
