import { useMutation } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import * as z from 'zod/mini'
import { ApiFailure } from '../../app/api.ts'
import { announce } from '../../shared/ui/feedback/announce.tsx'
import { FormFrame } from '../../shared/ui/form/form-frame.tsx'
import { Dialog } from '../../shared/ui/overlay/dialog.tsx'
import { createDocument, readDocument, replaceDocument, type Stored } from '../document-requests.ts'
import { compact, pretty, sameDocument } from '../editor/document-text.ts'
import { JsonField } from '../editor/json-field.tsx'
import { findDocument } from '../find-document-link.ts'
import { useDocumentChanges } from '../use-document-changes.ts'
import { type Place, useDocumentsLocation } from '../use-documents-location.ts'
import { documentText, useJsonForm } from '../use-json-form.ts'
import { DocumentConflict } from './document-conflict.tsx'

/** The version stored by another person; null if the document was deleted. */
type Theirs = Stored | null

/** Form that replaces a document. Shows a conflict if another person changed it. */
export function EditDocumentDialog({ place, document }: { place: Place; document: Stored }) {
  const { id } = document
  const { open, close } = useDocumentsLocation()
  const changes = useDocumentChanges()
  // The draft includes the ETag it started from, to detect changes made before it was restored.
  const form = useJsonForm({
    draft: `document ${id} of ${place.database}/${place.collection}`,
    initialValues: { text: pretty(document.json), etag: document.etag },
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
      const json = compact(text)
      if (theirs === null) return createDocument(place, withId(json, id))
      return replaceDocument(place, { id, etag, json: document.json }, json)
    },
    onSuccess: (stored) => done(stored),
    onError: async (error) => {
      if (!isConflict(error)) return form.showFailure(error)
      const now = await refetch(place, id)
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
  const done = (stored: Stored) => {
    announce(`Document ${id} was saved.`)
    changes.stored(place, stored)
    form.forget()
  }
  const submit = () => {
    if (beside) return form.showErrors({ form: CHOOSE })
    // A callback of `mutate` does not run if the dialog was closed before the response.
    form.submit(() => save.mutate(undefined, { onSuccess: () => open(id, true) }))
  }
  const settle = (now: Stored, mine: boolean) => {
    form.change({ etag: now.etag, ...(mine ? {} : { text: pretty(now.json) }) })
    setTheirs(undefined)
    form.clearErrors()
  }
  return (
    <Dialog
      title={`Edit document ${id}`}
      name={id}
      width={beside ? 1040 : 720}
      onClose={close}
      returnTo={() => findDocument(id)}
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
            theirs={pretty(theirs.json)}
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

const refetch = (place: Place, id: string): Promise<Theirs | Error> =>
  readDocument(place, id).catch((error: Error) =>
    error instanceof ApiFailure && error.status === 404 ? null : error,
  )

/** Adds the original id to the JSON if it contains none, so that a recreated document keeps it. */
function withId(json: string, id: string): string {
  const fields = JSON.parse(json) as Record<string, unknown>
  if (Object.hasOwn(fields, 'id')) return json
  const rest = json.slice(1)
  return `{"id":${JSON.stringify(id)}${rest === '}' ? '' : ','}${rest}`
}
