import { FileInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { BULK_BYTES } from '../../server/contract/document.ts'
import { Dialog } from '../ui/dialog.tsx'
import { FormFrame } from '../ui/form-frame.tsx'
import { sayBytes } from '../ui/say-bytes.ts'
import { uploadAll, type Violation } from './document-requests.ts'
import { placeFailure } from './use-document-faults.ts'
import { type Place, useDocumentsLocation } from './use-documents-location.ts'

interface Faults {
  readonly file?: string
  readonly form?: string
  readonly violations?: readonly Violation[]
}

/** So many violations are listed. */
const SHOWN = 20

/** Takes a file with a JSON array and has its documents created, all or none, by a job. */
export function UploadDialog({ place }: { place: Place }) {
  const { close, follow } = useDocumentsLocation()
  const [file, setFile] = useState<File | null>(null)
  const [{ faults, raised }, setFaults] = useState<{ faults: Faults; raised: number }>({
    faults: {},
    raised: 0,
  })
  const raise = (found: Faults) => setFaults((now) => ({ faults: found, raised: now.raised + 1 }))
  const upload = useMutation({
    mutationFn: (array: File) => uploadAll(place, array),
    onSuccess: follow,
    onError: (error) => {
      const { text, form, violations } = placeFailure(error)
      raise({
        ...(text !== undefined && { file: text.message }),
        ...(form !== undefined && { form }),
        ...(violations !== undefined && { violations }),
      })
    },
  })
  const submit = async () => {
    const fault = file === null ? 'Choose a file.' : await fileFault(file)
    if (fault !== undefined) raise({ file: fault })
    else if (file !== null) upload.mutate(file)
  }
  const violations = faults.violations ?? []
  return (
    <Dialog
      title={`Upload documents to ${place.collection}`}
      name={place.collection}
      width={560}
      onClose={close}
    >
      <FormFrame
        saveLabel="Upload documents"
        busy={upload.isPending}
        fault={faults.form}
        raised={raised}
        sentences={
          file === null
            ? []
            : [`${file.name}, ${sayBytes(file.size)}. All of it is stored, or nothing.`]
        }
        onSave={submit}
        onCancel={close}
      >
        <FileInput
          label="File"
          description="A JSON array of documents, up to 64 MiB. Those without an “id” are given one."
          placeholder="Choose a file"
          accept="application/json,.json"
          clearable
          value={file}
          error={faults.file}
          data-autofocus
          onChange={(chosen) => {
            setFile(chosen)
            setFaults((now) => ({ ...now, faults: {} }))
          }}
        />
        {violations.length > 0 && (
          <ul aria-label="What does not fit the schema">
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

/** Why a file cannot be uploaded, as far as can be seen without reading all of it. */
async function fileFault(file: File): Promise<string | undefined> {
  if (file.size > BULK_BYTES) return `The file has ${sayBytes(file.size)}; 64 MiB is the most.`
  const begin = await file.slice(0, 1_024).text()
  return /^\s*\[/.test(begin)
    ? undefined
    : 'The file holds no JSON array: it does not begin with [.'
}
