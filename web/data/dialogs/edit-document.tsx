import { type RefObject, useEffect, useRef, useState } from 'react'
import * as z from 'zod/mini'
import { FormFrame } from '../../ui/form/form-frame.tsx'
import { ConflictError, type StoredDocument, type StoredJson } from '../document-client.ts'
import { formatJson, minifyJson } from '../editor/document-text.ts'
import { FindField } from '../editor/find-field.tsx'
import { JsonField } from '../editor/json-field.tsx'
import { useSaveDocument } from '../mutations/save-document.ts'
import { type CollectionRef, formatCollection, useDataLocation } from '../use-data-location.ts'
import { documentText, useJsonForm } from '../use-json-form.ts'
import { DocumentConflict } from './document-conflict.tsx'
import { useKeptDraft } from './use-kept-draft.ts'

/** The version stored by another person; null if the document was deleted. */
type Theirs = StoredJson | null

/**
 * Form that replaces a document. Shows a conflict if another person changed it. Input that is left
 * without a decision stays stored as a draft.
 */
export function EditDocument(props: {
  collectionRef: CollectionRef
  document: StoredDocument
  /** Set to a function that discards the input, unless it is being saved. */
  onDiscard: RefObject<(() => void) | undefined>
}) {
  const { collectionRef, document, onDiscard } = props
  const { id } = document
  const { at, showStored } = useDataLocation()
  // The draft includes the ETag it started from, to detect changes made before it was restored.
  const form = useJsonForm({
    draft: `document ${id} of ${formatCollection(collectionRef)}`,
    initialValues: { text: formatJson(document.json), etag: document.etag },
    schema: z.object({ text: documentText }),
  })
  const { text, etag } = form.values
  const { editor } = form
  const [theirs, setTheirs] = useState<Theirs>()
  /** The version that the text is based on. */
  const [base, setBase] = useState<StoredJson>(document)
  const beside = theirs != null
  const wasBeside = useRef(false)
  useEffect(() => {
    // The button that had the focus is removed with the conflict.
    if (wasBeside.current && !beside) editor.current?.focus()
    wasBeside.current = beside
  }, [beside, editor])
  const save = useSaveDocument(collectionRef, { onSaved: form.deleteDraft })
  const { isPending, isSuccess } = save
  const isLeft = text !== formatJson(base.json) && !isPending && !isSuccess
  const drop = useKeptDraft(form, isLeft, {
    text: `Your changes to ${id} are kept, but not saved`,
    name: id,
    continueAt: at(collectionRef, { edit: id }),
  })
  const discard = () => {
    // If the save fails, its report reopens the form.
    if (!isPending) drop()
  }
  useEffect(() => {
    onDiscard.current = discard
    return () => {
      onDiscard.current = undefined
    }
  })
  useEffect(() => editor.current?.focus(), [editor])
  const showError = (error: Error) => {
    if (!(error instanceof ConflictError)) return form.showFailure(error)
    setTheirs(error.current)
    form.showErrors(error.current === null ? { form: DELETED_MESSAGE } : {})
  }
  const submit = () => {
    if (beside) return form.showErrors({ form: CHOOSE })
    form.submit(() =>
      save.mutate(
        {
          id,
          json: minifyJson(text),
          ...(theirs === null
            ? { etag: undefined, before: undefined }
            : { etag, before: base.etag === etag ? { ...base, id } : undefined }),
        },
        // Not called if the dialog was closed before the response.
        { onSuccess: () => showStored(id, collectionRef), onError: showError },
      ),
    )
  }
  const settle = (now: StoredJson, mine: boolean) => {
    form.setValues({ etag: now.etag, ...(mine ? {} : { text: formatJson(now.json) }) })
    setBase(now)
    setTheirs(undefined)
    form.clearErrors()
  }
  return (
    <>
      {!beside && (
        <FindField
          text={text}
          onFind={(found, at) => found[at] && editor.current?.select(found[at])}
        />
      )}
      <FormFrame
        form={form}
        saveLabel={theirs === null ? 'Create it again' : 'Save document'}
        busy={save.isPending}
        onSave={submit}
        onCancel={() => {
          discard()
          showStored(id, collectionRef)
        }}
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
    </>
  )
}

const CHOOSE = 'Choose “Take theirs” or “Keep mine” first.'
const DELETED_MESSAGE =
  'Someone deleted this document. Your changes were not saved. Create it again, or cancel.'
