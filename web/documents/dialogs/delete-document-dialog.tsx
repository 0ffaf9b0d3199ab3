import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiFailure } from '../api.ts'
import { announce } from '../ui/announce.tsx'
import { ConfirmDialog } from '../ui/confirm-dialog.tsx'
import { deleteDocument, readDocument, type Stored } from './document-requests.ts'
import { pretty } from './document-text.ts'
import { findDocument } from './find-document.ts'
import { JsonBlock } from './json-block.tsx'
import { useDocumentChanges } from './use-document-changes.ts'
import { type Place, useDocumentsLocation } from './use-documents-location.ts'

/** Asks before a document is deleted, and shows what would be lost. */
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
        // Deleted by somebody else is deleted.
        if (isGone(reason)) done()
      }
    },
  })
  const done = () => {
    announce(`Document ${id} was deleted.`)
    close()
    changes.deleted(place, id)
  }
  const fault = moved && remove.isError ? MOVED : (remove.error?.message ?? '')
  return (
    <ConfirmDialog
      title={`Delete document ${id}?`}
      name={id}
      keep="Keep it"
      fault={fault}
      confirm={{
        label: 'Delete document',
        busy: remove.isPending,
        run: () => remove.mutate(),
      }}
      onClose={close}
      returnTo={() => findDocument(id)}
    >
      <p>It is gone at once and cannot be brought back.</p>
      <JsonBlock label={`Document ${id} as JSON`} text={pretty(now.json)} />
    </ConfirmDialog>
  )
}

const MOVED =
  'It was not deleted: somebody changed it in the meantime. What it holds now stands above.'
