import { Button, FileInput, NativeSelect, Textarea } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import * as z from 'zod/mini'
import { isCollectionName } from '../../../server/contract/document.ts'
import type { CsvTypes, ImportResponse, OnConflict } from '../../../server/contract/import.ts'
import { useDraftForm } from '../../shared/forms/use-draft-form.ts'
import { describeImport } from '../../shared/import/describe-import.ts'
import { CANCELLED, storedNothing, withNote } from '../../shared/import/import-failure.ts'
import { ImportOutcome } from '../../shared/import/import-outcome.tsx'
import { ImportProgress } from '../../shared/import/import-progress.tsx'
import { useCancellableImport } from '../../shared/import/use-cancellable-import.ts'
import { undoNow } from '../../shared/toast/toast.ts'
import { FormFrame } from '../../shared/ui/form/form-frame.tsx'
import { keepFocus } from '../../shared/ui/layout/keep-focus.ts'
import { Dialog } from '../../shared/ui/overlay/dialog.tsx'
import { CollectionField } from '../dialogs/collection-field.tsx'
import { collectionName } from '../dialogs/collection-name.ts'
import { importToast, useImportDocuments } from '../mutations/import-documents.ts'
import { formatDocuments } from '../selection/describe-outcome.ts'
import { type CollectionRef, useDocumentsLocation } from '../use-documents-location.ts'
import classes from './import-dialog.module.css'
import { ImportPreview, usePreview } from './import-preview.tsx'
import { useImportedFilter } from './imported-filter.ts'
import { NO_JSON } from './json-to-lines.ts'
import { detectFormat, IMPORT_FORMATS, type ImportFormat } from './read-source.ts'

/** Longer text is a file, because a text field would be slow. */
const MAX_PASTED = 200_000

interface ImportDraft {
  readonly collection: string
  readonly file: File | null
  readonly text: string
  /** Empty: detected from the source. */
  readonly format: ImportFormat | ''
  readonly onConflict: OnConflict
  readonly types: CsvTypes
  /** Whether an import of this input began, and may have stored documents without completing. */
  readonly begun: boolean
}

const fields = {
  collection: collectionName,
  file: z.nullable(z.instanceof(File)),
  text: z.string(),
}

const schema = z.object(fields).check(
  z.refine(({ file, text }) => file !== null || text.trim() !== '', {
    path: ['file'],
    message: 'Choose a file, or paste documents.',
  }),
  z.refine(({ text }) => text.length <= MAX_PASTED, {
    path: ['text'],
    message: 'The text is too long. Save it as a file and choose that.',
  }),
)

const conflicts: { value: OnConflict; label: string }[] = [
  { value: 'fail', label: 'Report an error' },
  { value: 'skip', label: 'Keep the stored document' },
  { value: 'replace', label: 'Replace the stored document' },
]

const cellTypes: { value: CsvTypes; label: string }[] = [
  { value: 'auto', label: 'Detect numbers and JSON' },
  { value: 'string', label: 'Text only' },
]

/**
 * Imports documents from a file or from text, with a preview. If `collection` is undefined, the user
 * enters its name.
 */
export function ImportDialog(props: { database: string; collection: string | undefined }) {
  const { database, collection } = props
  const { close } = useDocumentsLocation()
  const form = useDraftForm<ImportDraft>({
    draft: `import into ${database}/${collection ?? ''}`,
    unstored: ['file'],
    initialValues: {
      collection: collection ?? '',
      file: null,
      text: '',
      format: '',
      onConflict: 'fail',
      types: 'auto',
      begun: false,
    },
    restore: (stored) =>
      stored.begun && stored.onConflict === 'fail' ? { ...stored, onConflict: 'skip' } : stored,
    schema,
    // The errors of the file and the format also depend on the source.
    groups: [['file', 'text', 'format']],
  })
  const { file, text } = form.values
  const collectionRef = { database, collection: form.values.collection.trim() }
  const source = file ?? (text.trim() === '' ? undefined : new Blob([text]))
  const begin = useBegin(file)
  /** Whether the beginning of the file, which shows its format, is not known yet. */
  const isReading = file !== null && begin === undefined
  const detected = isReading ? undefined : detectFormat(file?.name ?? '', begin ?? text)
  const format = form.values.format === '' ? detected : form.values.format
  const preview = usePreview({
    source,
    text: file === null ? text : undefined,
    format,
    onConflict: form.values.onConflict,
    types: form.values.types,
  })
  const running = useCancellableImport(close)
  const load = useImportDocuments(collectionRef)
  const { mutate } = load
  const submit = () =>
    form.submit(({ onConflict, types }) => {
      if (source === undefined || format === undefined) return
      const control = running.begin()
      // After a reload, the form says that the import was interrupted.
      form.setFieldValue('begun', true)
      mutate(
        { source, format, onConflict, types, ...control },
        {
          onSettled: running.end,
          onSuccess: form.deleteDraft,
          onError: (error) => {
            form.setFieldValue('begun', !storedNothing(error))
            form.showErrors(
              error.message === NO_JSON
                ? { format: NO_JSON }
                : { form: control.signal.aborted ? CANCELLED : withNote(error) },
            )
          },
        },
      )
    })
  const chooseFile = (chosen: File | null) => {
    form.setFieldValue('file', chosen)
    const name = chosen?.name.replace(/\.[^.]*$/, '') ?? ''
    if (form.values.collection.trim() === '' && isCollectionName(name))
      form.setFieldValue('collection', name)
  }
  const title =
    collection === undefined ? 'Import documents' : `Import documents into ${collection}`
  return (
    <Dialog
      title={title}
      name={collection}
      width={880}
      deliberate={source !== undefined}
      onClose={() => (load.isPending ? running.setLeaving(!running.isLeaving) : close())}
    >
      {load.isPending ? (
        <ImportProgress running={running} />
      ) : load.data !== undefined ? (
        <ImportOutcome
          summary={describeImport(load.data)}
          errors={load.data.errors}
          name={collectionRef.collection}
          unit={format === 'json' ? 'Document' : 'Line'}
          onClose={close}
        >
          <ImportedActions collectionRef={collectionRef} result={load.data} />
        </ImportOutcome>
      ) : (
        <FormFrame
          form={form}
          saveLabel="Import documents"
          busy={false}
          unavailable={
            source !== undefined && preview?.isEmpty === true
              ? 'There is nothing to import.'
              : undefined
          }
          onSave={submit}
          onCancel={close}
        >
          {form.restored?.begun === true && <p className="warning">{INTERRUPTED}</p>}
          <div className={classes.source}>
            {collection === undefined && (
              <CollectionField
                database={database}
                description={`In ${database}. A new collection is created with its first document.`}
                {...form.getInputProps('collection')}
              />
            )}
            <FileInput
              label="File"
              description="NDJSON, CSV or JSON, of any size"
              placeholder="Choose a file"
              accept=".json,.ndjson,.jsonl,.csv,.tsv,application/json,application/x-ndjson,text/csv,text/tab-separated-values"
              clearable
              clearButtonProps={{ 'aria-label': 'Remove the file', ref: keepFocus }}
              data-autofocus={collection !== undefined || undefined}
              {...form.getInputProps('file')}
              onChange={chooseFile}
            />
            {file === null && (
              <Textarea
                label="Or paste documents"
                placeholder={'{"id": "one", "title": "One"}'}
                classNames={{ input: `mono ${classes.text}` }}
                rows={5}
                spellCheck={false}
                {...form.getInputProps('text')}
              />
            )}
          </div>
          {source !== undefined && (
            <>
              <div className={classes.choices}>
                <NativeSelect
                  label="Format"
                  data={[
                    {
                      value: '',
                      label: detected
                        ? `Detected: ${IMPORT_FORMATS[detected].label}`
                        : 'Reading the file…',
                    },
                    ...Object.entries(IMPORT_FORMATS).map(([value, { label }]) => ({
                      value,
                      label,
                    })),
                  ]}
                  {...form.getInputProps('format')}
                />
                <NativeSelect
                  label="If the id exists"
                  data={conflicts}
                  {...form.getInputProps('onConflict')}
                />
                {format !== undefined && IMPORT_FORMATS[format].separator !== undefined && (
                  <NativeSelect label="Cells" data={cellTypes} {...form.getInputProps('types')} />
                )}
              </div>
              {preview !== undefined && (
                <ImportPreview preview={preview} failure={String(form.errors.form ?? '')} />
              )}
            </>
          )}
        </FormFrame>
      )}
    </Dialog>
  )
}

/** Buttons that undo an import, and show its documents. */
function ImportedActions(props: { collectionRef: CollectionRef; result: ImportResponse }) {
  const { collectionRef, result } = props
  const { created, replaced, skipped, documents = [] } = result
  const { showCollection, close } = useDocumentsLocation()
  const queryClient = useQueryClient()
  const ids = documents.map(({ id }) => id)
  const filter = useImportedFilter(collectionRef, ids)
  const toast = importToast(queryClient, collectionRef, result)
  return (
    <>
      {toast.undo !== undefined && (
        <Button
          variant="default"
          onClick={() => {
            close()
            void undoNow(toast)
          }}
        >
          Undo
        </Button>
      )}
      {created + replaced + skipped > 0 && (
        <Button variant="default" onClick={() => showCollection(collectionRef, { filter })}>
          {filter === undefined ? 'Show documents' : `Open the ${formatDocuments(created)}`}
        </Button>
      )}
    </>
  )
}

/** Returns the first characters of a file; undefined until they are read, and without a file. */
function useBegin(file: File | null): string | undefined {
  const [read, setRead] = useState<{ readonly file: File; readonly begin: string }>()
  useEffect(() => {
    if (file === null) return
    file
      .slice(0, 1_024)
      .text()
      .then(
        (begin) => setRead({ file, begin }),
        // The preview shows the error.
        () => setRead({ file, begin: '' }),
      )
  }, [file])
  return read?.file === file ? read?.begin : undefined
}

/** Describes an import that ended with its page. The server reports no count until the end. */
const INTERRUPTED =
  'An import was interrupted. Some of its documents may have been stored. If you import again, documents whose id exists are kept, and documents without an id are stored again.'
