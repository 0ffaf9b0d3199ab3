import { useMutation } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import * as z from 'zod/mini'
import { ApiFailure } from '../../app/api.ts'
import { announce } from '../../shared/ui/feedback/announce.tsx'
import { FormFrame } from '../../shared/ui/form/form-frame.tsx'
import { Dialog } from '../../shared/ui/overlay/dialog.tsx'
import {
  createDocument,
  readDocument,
  replaceDocument,
  type StoredDocument,
} from '../document-requests.ts'
import { formatJson, minifyJson, sameDocument } from '../editor/document-text.ts'
import { JsonField } from '../editor/json-field.tsx'
import { findDocumentLink } from '../find-document-link.ts'
import { useDocumentChanges } from '../use-document-changes.ts'
import { type CollectionRef, useDocumentsLocation } from '../use-documents-location.ts'
import { documentText, useJsonForm } from '../use-json-form.ts'
import { DocumentConflict } from './document-conflict.tsx'

/** The version stored by another person; null if the document was deleted. */
type Theirs = StoredDocument | null

/** Form that replaces a document. Shows a conflict if another person changed it. */
export function EditDocumentDialog({
  collectionRef,
  document,
}: {
  collectionRef: CollectionRef
  document: StoredDocument
}) {
  const { id } = document
  const { open, close } = useDocumentsLocation()
  const changes = useDocumentChanges()
  // The draft includes the ETag it started from, to detect changes made before it was restored.
  const form = useJsonForm({
    draft: `document ${id} of ${collectionRef.database}/${collectionRef.collection}`,
    initialValues: { text: formatJson(document.json), etag: document.etag },
    schema: z.object({ text: documentText }),
  })
  const { text, etag } = form.values
  const { editor } = form
  const [theirs, setTheirs] = useState<Theirs>()
  const beside = theirs != null
  const wasBeside = useRef(false)
  useEffect(() => {
    // The button that had the focus is removed with the conflict.
    if (wasBeside.current && !beside) editor.current?.focus()
    wasBeside.current = beside
  }, [beside, editor])
  const save = useMutation({
    mutationFn: () => {
      const json = minifyJson(text)
      if (theirs === null) return createDocument(collectionRef, withId(json, id))
      return replaceDocument(collectionRef, { id, etag, json: document.json }, json)
    },
    onSuccess: (stored) => done(stored),
    onError: async (error) => {
      if (!isConflict(error)) return form.showFailure(error)
      const now = await refetch(collectionRef, id)
      if (now instanceof Error) return form.showFailure(now)
      // The response to an earlier save was lost, but the server stored the document.
      if (now !== null && sameDocument(now.json, text)) {
        done(now)
        return open(id, true)
      }
      setTheirs(now)
      form.showErrors(now === null ? { form: GONE } : {})
    },
  })
  const done = (stored: StoredDocument) => {
    announce(`Document ${id} was saved.`)
    changes.stored(collectionRef, stored)
    form.forget()
  }
  const submit = () => {
    if (beside) return form.showErrors({ form: CHOOSE })
    // A callback of `mutate` does not run if the dialog was closed before the response.
    form.submit(() => save.mutate(undefined, { onSuccess: () => open(id, true) }))
  }
  const settle = (now: StoredDocument, mine: boolean) => {
    form.change({ etag: now.etag, ...(mine ? {} : { text: formatJson(now.json) }) })
    setTheirs(undefined)
    form.clearErrors()
  }
  return (
    <Dialog
      title={`Edit document ${id}`}
      name={id}
      width={beside ? 1040 : 720}
      onClose={close}
      returnTo={() => findDocumentLink(id)}
    >
      <FormFrame
        form={form}
        saveLabel={theirs === null ? 'Create it again' : 'Save document'}
        busy={save.isPending}
        onSave={submit}
        onCancel={close}
      >
        {beside ? (
          <DocumentConflict
            theirs={formatJson(theirs.json)}
            yours={text}
            onTakeTheirs={() => settle(theirs, false)}
            onKeepYours={() => settle(theirs, true)}
          />
        ) : (
          <JsonField
            form={form}
            label="Document as JSON"
            note="The whole document is replaced. Its id is kept."
            first
          />
        )}
      </FormFrame>
    </Dialog>
  )
}

const CHOOSE = 'Choose “Take theirs” or “Keep mine” first.'
const GONE =
  'Someone deleted this document. Your changes were not saved. Create it again, or cancel.'

/**
 * Whether the document was changed or deleted (412 or 404), or recreated by another person (409).
 */
const isConflict = (error: Error) =>
  error instanceof ApiFailure && [404, 409, 412].includes(error.status)

const refetch = (collectionRef: CollectionRef, id: string): Promise<Theirs | Error> =>
  readDocument(collectionRef, id).catch((error: Error) =>
    error instanceof ApiFailure && error.status === 404 ? null : error,
  )

/** Adds the original id to the JSON if it contains none, so that a recreated document keeps it. */
function withId(json: string, id: string): string {
  const fields = JSON.parse(json) as Record<string, unknown>
  if (Object.hasOwn(fields, 'id')) return json
  const rest = json.slice(1)
  return `{"id":${JSON.stringify(id)}${rest === '}' ? '' : ','}${rest}`
}
