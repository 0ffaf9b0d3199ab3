import { useQueryClient } from '@tanstack/react-query'
import * as z from 'zod/mini'
import { useReportedMutation } from '../../shared/reports/use-reported-mutation.ts'
import { FormFrame } from '../../ui/form/form-frame.tsx'
import { Dialog } from '../../ui/overlay/dialog.tsx'
import { CollectionField, collectionName } from '../collection-field.tsx'
import { collectionClient, JSON_TYPE, readStoredDocument } from '../document-client.ts'
import { minifyJson, NEW_DOCUMENT } from '../editor/document-text.ts'
import { JsonField } from '../editor/json-field.tsx'
import { findDocumentElement } from '../find-document-element.ts'
import { showStored } from '../mutations/document-toast.ts'
import { type CollectionRef, formatCollection, useDataLocation } from '../use-data-location.ts'
import { documentText, useJsonForm } from '../use-json-form.ts'

const newDocumentSchema = z.object({
  collection: collectionName,
  text: documentText,
})

/**
 * Form that creates a document. If `collection` is undefined, the user enters its name; the server
 * creates the collection with the first document.
 */
export function CreateDocumentDialog(props: { database: string; collection: string | undefined }) {
  const { database, collection } = props
  const { showStored, close } = useDataLocation()
  const form = useJsonForm({
    draft: `document of ${database}/${collection ?? ''}`,
    initialValues: { collection: collection ?? '', text: NEW_DOCUMENT },
    schema: newDocumentSchema,
  })
  const collectionRef = { database, collection: form.values.collection.trim() }
  const create = useCreateDocument({ onCreated: form.deleteDraft })
  const submit = () =>
    form.submit(({ text }) =>
      create.mutate(
        { collectionRef, json: minifyJson(text) },
        {
          // Open the stored document, because the server may have generated its id. Not called if
          // the dialog was closed before the response.
          onSuccess: ({ id }) => showStored(id, collectionRef),
          onError: form.showFailure,
        },
      ),
    )
  return (
    <Dialog
      title={collection === undefined ? 'Create document' : `Create document in ${collection}`}
      name={collection}
      width={720}
      onClose={close}
      returnTo={() => (create.data === undefined ? undefined : findDocumentElement(create.data.id))}
    >
      <FormFrame
        form={form}
        saveLabel="Create document"
        busy={create.isPending}
        onSave={submit}
        onCancel={close}
      >
        {collection === undefined && (
          <CollectionField
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
    </Dialog>
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
