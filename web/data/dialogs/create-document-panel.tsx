import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import * as z from 'zod/mini'
import { useReportedMutation } from '../../shared/reports/use-reported-mutation.ts'
import { FormFrame } from '../../ui/form/form-frame.tsx'
import { SidePanel } from '../../ui/layout/side-panel.tsx'
import { CollectionField, collectionName } from '../collection-field.tsx'
import { collectionClient, JSON_TYPE, readStoredDocument } from '../document-client.ts'
import { minifyJson, NEW_DOCUMENT } from '../editor/document-text.ts'
import { JsonField } from '../editor/json-field.tsx'
import { showStored } from '../mutations/document-toast.ts'
import { type CollectionRef, formatCollection, useDataLocation } from '../use-data-location.ts'
import { documentText, useJsonForm } from '../use-json-form.ts'
import classes from './document-panel.module.css'
import { useKeptDraft } from './use-kept-draft.ts'

const newDocumentSchema = z.object({
  collection: collectionName,
  text: documentText,
})

/**
 * Panel beside the table that creates a document. If `collection` is undefined, the user enters its
 * name; the server creates the collection with the first document.
 */
export function CreateDocumentPanel(props: { database: string; collection: string | undefined }) {
  const { database, collection } = props
  const { at, showStored, close } = useDataLocation()
  const form = useJsonForm({
    draft: `document of ${database}/${collection ?? ''}`,
    initialValues: { collection: collection ?? '', text: NEW_DOCUMENT },
    schema: newDocumentSchema,
  })
  const collectionRef = { database, collection: form.values.collection.trim() }
  const create = useCreateDocument({ onCreated: form.deleteDraft })
  const { isPending, isSuccess } = create
  const isChanged = form.values.text !== NEW_DOCUMENT
  const drop = useKeptDraft(form, isChanged && !isPending && !isSuccess, {
    text: 'Your new document is kept, but not saved',
    continueAt: at(props, { create: '1' }),
  })
  const cancel = () => {
    // If the save fails, its report reopens the form.
    if (!isPending) drop()
    close()
  }
  const { editor } = form
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => {
    // After the panel has focused its title.
    const timer = setTimeout(() => (field.current ?? editor.current)?.focus())
    return () => clearTimeout(timer)
  }, [editor])
  const submit = () =>
    form.submit(({ text }) =>
      create.mutate(
        { collectionRef, json: minifyJson(text) },
        {
          // Open the stored document, because the server may have generated its id. Not called if
          // the panel was closed before the response.
          onSuccess: ({ id }) => showStored(id, collectionRef),
          onError: form.showFailure,
        },
      ),
    )
  return (
    <SidePanel
      label={collection === undefined ? 'Create document' : `Create document in ${collection}`}
      title="New document"
      isName={false}
      onClose={cancel}
      backTo={() => null}
    >
      <div className={classes.content}>
        <FormFrame
          form={form}
          saveLabel="Create document"
          busy={isPending}
          onSave={submit}
          onCancel={cancel}
        >
          {collection === undefined && (
            <CollectionField
              ref={field}
              database={database}
              description={`In ${database}. A new collection is created with this document.`}
              {...form.getInputProps('collection')}
            />
          )}
          <JsonField
            form={form}
            label="Document as JSON"
            note="If “id” is missing, one is generated."
            first={collection !== undefined}
          />
        </FormFrame>
      </div>
    </SidePanel>
  )
}

interface NewDocument {
  readonly collectionRef: CollectionRef
  readonly json: string
}

/**
 * Creates a document from JSON text.
 *
 * @throws ApiFailure 409 if its id is taken.
 */
async function createDocument({ collectionRef, json }: NewDocument) {
  const { param, collection } = collectionClient(collectionRef)
  return readStoredDocument(
    collection.$post({ param }, { headers: JSON_TYPE, init: { body: json } }),
  )
}

/** Creates a document. `onCreated` is called even if the component is unmounted. */
function useCreateDocument({ onCreated }: { onCreated: () => void }) {
  const queryClient = useQueryClient()
  return useReportedMutation({
    mutationFn: createDocument,
    change: ({ collectionRef }) => ({
      what: `The new document of ${formatCollection(collectionRef)}`,
      done: 'created',
    }),
    onSuccess: (document, { collectionRef }) => {
      showStored(queryClient, collectionRef, document, { isNew: true })
      onCreated()
    },
  })
}
