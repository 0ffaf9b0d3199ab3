import { FileInput } from '@mantine/core'
import { useState } from 'react'
import { BULK_BYTES } from '../../../server/contract/document.ts'
import type { Violation } from '../../../server/contract/schema.ts'
import { useDraftForm } from '../../shared/forms/use-draft-form.ts'
import { FormFrame } from '../../shared/ui/form/form-frame.tsx'
import { Dialog } from '../../shared/ui/overlay/dialog.tsx'
import { formatBytes } from '../../shared/ui/text/format-bytes.ts'
import { useUploadDocuments } from '../mutations/upload-documents.ts'
import { type CollectionRef, useDocumentsLocation } from '../use-documents-location.ts'
import { toJsonFormErrors } from '../use-json-form.ts'

/** Maximum violations to list. */
const SHOWN = 20

/** Uploads a file with a JSON array. A job creates all of its documents or none. */
export function UploadDialog({ collectionRef }: { collectionRef: CollectionRef }) {
  const { close, follow } = useDocumentsLocation()
  const form = useDraftForm<{ file: File | null }>({ initialValues: { file: null } })
  const { file } = form.values
  const [violations, setViolations] = useState<readonly Violation[]>([])
  const upload = useUploadDocuments(collectionRef)
  const showError = (error: Error) => {
    const { errors, violations: found } = toJsonFormErrors(error)
    setViolations(found)
    form.showErrors('text' in errors ? { file: errors.text } : errors)
  }
  const submit = async () => {
    const error = file === null ? 'Choose a file.' : await fileError(file)
    if (error !== undefined) form.showErrors({ file: error })
    else if (file !== null) upload.mutate(file, { onSuccess: follow, onError: showError })
  }
  return (
    <Dialog
      title={`Upload documents to ${collectionRef.collection}`}
      name={collectionRef.collection}
      width={560}
      // A click outside must not discard the chosen file.
      deliberate={file !== null}
      onClose={close}
    >
      <FormFrame
        form={form}
        saveLabel="Upload documents"
        busy={upload.isPending}
        sentences={
          file === null
            ? []
            : [`${file.name}, ${formatBytes(file.size)}. Either all documents are stored or none.`]
        }
        onSave={submit}
        onCancel={close}
      >
        <FileInput
          label="File"
          description="A JSON array of documents, up to 64 MiB. Missing ids are generated."
          placeholder="Choose a file"
          accept="application/json,.json"
          clearable
          data-autofocus
          {...form.getInputProps('file')}
        />
        {form.errors.file !== undefined && violations.length > 0 && (
          <ul aria-label="Schema violations">
            {violations.slice(0, SHOWN).map(({ pointer, message }) => (
              <li key={`${pointer} ${message}`}>
                <span className="mono">{pointer}</span> {message}
              </li>
            ))}
            {violations.length > SHOWN && <li>and {violations.length - SHOWN} more</li>}
          </ul>
        )}
      </FormFrame>
    </Dialog>
  )
}

/** Returns why a file cannot be uploaded, based on its size and first kilobyte. */
async function fileError(file: File): Promise<string | undefined> {
  if (file.size > BULK_BYTES)
    return `The file has ${formatBytes(file.size)}. The maximum is 64 MiB.`
  const begin = await file.slice(0, 1_024).text()
  return /^\s*\[/.test(begin)
    ? undefined
    : 'The file is not a JSON array because it does not begin with [.'
}
