import { useMutation } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { ApiFailure } from '../api.ts'
import { announce } from '../ui/announce.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { FormFrame } from '../ui/form-frame.tsx'
import { useKeptDraft } from '../use-kept-draft.ts'
import { DocumentConflict } from './document-conflict.tsx'
import { createDocument, readDocument, replaceDocument, type Stored } from './document-requests.ts'
import { compact, pretty, sameDocument, textFault } from './document-text.ts'
import { findDocument } from './find-document.ts'
import { JsonField } from './json-field.tsx'
import { useDocumentChanges } from './use-document-changes.ts'
import { placeFailure, useDocumentFaults } from './use-document-faults.ts'
import { type Place, useDocumentsLocation } from './use-documents-location.ts'

/** What somebody else has made of a document meanwhile; null: it is gone. */
type Theirs = Stored | null

/** The form in which a document is changed. What others change meanwhile is set beside. */
export function EditDocumentDialog({ place, document }: { place: Place; document: Stored }) {
  const { id } = document
  const { open, close } = useDocumentsLocation()
  const changes = useDocumentChanges()
  // With the state that it was begun from: whoever comes back is told what others changed since.
  const kept = useKeptDraft(`document ${id} of ${place.database}/${place.collection}`, {
    text: pretty(document.json),
    etag: document.etag,
  })
  const { text, etag } = kept.draft
  const { faults, raised, field, raise, clear } = useDocumentFaults()
  const [theirs, setTheirs] = useState<Theirs>()
  const beside = theirs != null
  const wasBeside = useRef(false)
  useEffect(() => {
    // The choice goes with its buttons; what was chosen has the focus then.
    if (wasBeside.current && !beside) field.current?.focus()
    wasBeside.current = beside
  }, [beside, field])
  const save = useMutation({
    mutationFn: () => {
      const json = compact(text)
      if (theirs === null) return createDocument(place, withId(json, id))
      return replaceDocument(place, { id, etag, json: document.json }, json)
    },
    onSuccess: (stored) => done(stored),
    onError: async (error) => {
      if (!hasMovedOn(error)) return raise(placeFailure(error))
      const now = await lookAgain(place, id)
      if (now instanceof Error) return raise(placeFailure(now))
      // The answer to an earlier save was lost on its way: it is saved.
      if (now !== null && sameDocument(now.json, text)) return done(now)
      setTheirs(now)
      raise(now === null ? { form: GONE } : {})
    },
  })
  const done = (stored: Stored) => {
    announce(`Document ${id} was saved.`)
    changes.stored(place, stored)
    kept.forget()
    open(id, true)
  }
  const submit = () => {
    if (beside) return raise({ form: CHOOSE })
    const fault = textFault(text)
    if (fault === undefined) save.mutate()
    else raise({ text: fault })
  }
  const settle = (now: Stored, mine: boolean) => {
    kept.change({ etag: now.etag, ...(mine ? {} : { text: pretty(now.json) }) })
    setTheirs(undefined)
    clear()
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
        saveLabel={theirs === null ? 'Create it anew' : 'Save document'}
        busy={save.isPending}
        fault={faults.form}
        raised={raised}
        sentences={[]}
        onStartAfresh={kept.restored ? kept.startAfresh : undefined}
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
            field={field}
            label="Document as JSON"
            text={text}
            note="The whole document is replaced. Its id stays."
            faults={faults}
            first
            onChange={(next) => {
              kept.change({ text: next })
              clear()
            }}
          />
        )}
      </FormFrame>
    </Dialog>
  )
}

const CHOOSE = 'Take theirs or keep yours first.'
const GONE =
  'Somebody deleted this document in the meantime. It was not saved. Create it anew, or cancel.'

/** 412; or 409 where it was created anew by somebody else, too. */
const hasMovedOn = (error: Error) =>
  error instanceof ApiFailure && [404, 409, 412].includes(error.status)

const lookAgain = (place: Place, id: string): Promise<Theirs | Error> =>
  readDocument(place, id).catch((error: Error) =>
    error instanceof ApiFailure && error.status === 404 ? null : error,
  )

/** A document that is created anew keeps its id, also where the text has none. */
function withId(json: string, id: string): string {
  const fields = JSON.parse(json) as Record<string, unknown>
  if (Object.hasOwn(fields, 'id')) return json
  const rest = json.slice(1)
  return `{"id":${JSON.stringify(id)}${rest === '}' ? '' : ','}${rest}`
}
