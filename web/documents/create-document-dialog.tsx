import { TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { isCollectionName } from '../../server/contract/document.ts'
import { announce } from '../ui/announce.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { FormFrame } from '../ui/form-frame.tsx'
import { useKeptDraft } from '../use-kept-draft.ts'
import { createDocument } from './document-requests.ts'
import { compact, textFault } from './document-text.ts'
import { findDocument } from './find-document.ts'
import { JsonField } from './json-field.tsx'
import { useDocumentChanges } from './use-document-changes.ts'
import { placeFailure, useDocumentFaults } from './use-document-faults.ts'
import { useDocumentsLocation } from './use-documents-location.ts'

/** What an empty form begins with. */
const BEGIN = '{\n  \n}'

/** The form in which a document is created, in a collection that may begin with it. */
export function CreateDocumentDialog(props: { database: string; collection: string | undefined }) {
  const { database, collection } = props
  const { list, goTo, close } = useDocumentsLocation()
  const changes = useDocumentChanges()
  const kept = useKeptDraft(`document of ${database}/${collection ?? ''}`, {
    collection: collection ?? '',
    text: BEGIN,
  })
  const { draft } = kept
  const { faults, raised, field, raise, clear } = useDocumentFaults()
  const place = { database, collection: draft.collection.trim() }
  const create = useMutation({
    mutationFn: () => createDocument(place, compact(draft.text)),
    onSuccess: (document) => {
      announce(`Document ${document.id} was created.`)
      changes.stored(place, document)
      kept.forget()
      // Its id may have been made by the server: show what is stored now.
      goTo(place, { ...list, open: document.id }, true)
    },
    onError: (error) => raise(placeFailure(error)),
  })
  const change = (part: Partial<typeof draft>) => {
    kept.change(part)
    clear()
  }
  const submit = () => {
    const nameless = !isCollectionName(place.collection)
    const text = textFault(draft.text)
    if (!nameless && text === undefined) create.mutate()
    else {
      raise({ ...(nameless && { collection: NAME_RULE }), ...(text !== undefined && { text }) })
    }
  }
  return (
    <Dialog
      title={collection === undefined ? 'Create document' : `Create document in ${collection}`}
      name={collection}
      width={720}
      onClose={close}
      returnTo={() => (create.data === undefined ? undefined : findDocument(create.data.id))}
    >
      <FormFrame
        saveLabel="Create document"
        busy={create.isPending}
        fault={faults.form}
        raised={raised}
        sentences={[]}
        onStartAfresh={kept.restored ? kept.startAfresh : undefined}
        onSave={submit}
        onCancel={close}
      >
        {collection === undefined && (
          <TextInput
            label="Collection"
            description={`In ${database}. One that is not there yet begins with this document.`}
            placeholder="articles"
            classNames={{ input: 'mono' }}
            spellCheck={false}
            autoComplete="off"
            autoCapitalize="off"
            value={draft.collection}
            error={faults.collection}
            data-autofocus
            onChange={(event) => change({ collection: event.currentTarget.value })}
          />
        )}
        <JsonField
          field={field}
          label="Document as JSON"
          text={draft.text}
          note="Without an “id” the document is given one."
          faults={faults}
          first={collection !== undefined}
          onChange={(text) => change({ text })}
        />
      </FormFrame>
    </Dialog>
  )
}

const NAME_RULE =
  'A collection name begins with a small letter and has up to 64 small letters, digits, “_” and “-”.'
