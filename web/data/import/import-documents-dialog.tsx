import { Button, NativeSelect } from '@mantine/core'
import { useMemo } from 'react'
import * as z from 'zod/mini'
import { isCollectionName } from '../../../server/contract/document.ts'
import type { CsvTypes, ImportResponse, OnConflict } from '../../../server/contract/import.ts'
import { valueAt } from '../../../server/contract/query/field-path.ts'
import { DOCUMENT_WORDS, describeImport, listErrors } from '../../shared/import/describe-import.ts'
import classes from '../../shared/import/import.module.css'
import { ImportDialog } from '../../shared/import/import-dialog.tsx'
import { CANCELLED, UNREADABLE, withNote } from '../../shared/import/import-failure.ts'
import { ImportOutcome } from '../../shared/import/import-outcome.tsx'
import { useImport, useImportForm, useRead } from '../../shared/import/use-import.ts'
import { CollectionField, collectionName } from '../collection-field.tsx'
import { formatCell } from '../model/format-cell.ts'
import { formatDocuments } from '../mutations/describe-outcome.ts'
import { type CollectionRef, useDataLocation } from '../use-data-location.ts'
import { idCandidates, readHead, renameToId } from './id-column.ts'
import { useImportDocuments, useImportedFilter } from './import-documents.ts'
import { NO_JSON } from './json-to-lines.ts'
import { PREVIEW_BYTES, type Preview, previewSource } from './preview.ts'
import { detectFormat, IMPORT_FORMATS, type ImportFormat } from './read-source.ts'

interface DocumentOptions {
  readonly collection: string
  /** Empty: detected from the source. */
  readonly format: ImportFormat | ''
  readonly onConflict: OnConflict
  readonly types: CsvTypes
  /** The column of CSV that becomes the id; empty if ids are generated. */
  readonly idColumn: string
}

const WORDS = {
  ...DOCUMENT_WORDS,
  file: 'NDJSON, CSV or JSON, of any size',
  accept:
    '.json,.ndjson,.jsonl,.csv,.tsv,application/json,application/x-ndjson,text/csv,text/tab-separated-values',
  text: { label: 'Or paste documents', placeholder: '{"id": "one", "title": "One"}' },
  interrupted:
    'An import was interrupted. Some of its documents may have been stored. If you import again, documents whose id exists are kept, and documents without an id are stored again.',
}

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
 * Imports documents from a file or from text. If `collection` is undefined, the user enters its
 * name.
 */
export function ImportDocumentsDialog(props: { database: string; collection: string | undefined }) {
  const { database, collection } = props
  const { close } = useDataLocation()
  const form = useImportForm<DocumentOptions>('Choose a file, or paste documents.', {
    draft: `import into ${database}/${collection ?? ''}`,
    initialValues: {
      collection: collection ?? '',
      format: '',
      onConflict: 'fail',
      types: 'auto',
      idColumn: '',
    },
    restore: (stored) =>
      stored.begun && stored.onConflict === 'fail' ? { ...stored, onConflict: 'skip' } : stored,
    schema: z.object({ collection: collectionName }),
    groups: [['file', 'text', 'format']],
  })
  const { file, text, onConflict, types } = form.values
  const collectionRef = { database, collection: form.values.collection.trim() }
  const pasted = useMemo(
    () => (text.trim() === '' ? undefined : new TextEncoder().encode(text)),
    [text],
  )
  const read = useRead(file, (chosen) => {
    const name = chosen.name.replace(/\.[^.]*$/, '')
    if (form.getValues().collection.trim() === '' && isCollectionName(name))
      form.setFieldValue('collection', name)
    return chosen.slice(0, PREVIEW_BYTES).arrayBuffer()
  })
  /** The first bytes of the source; undefined until they are read, and without a source. */
  const begin = useMemo(
    () => (file === null ? pasted : read == null ? undefined : new Uint8Array(read)),
    [file, pasted, read],
  )
  const detected = useMemo(
    () =>
      begin && detectFormat(file?.name ?? '', new TextDecoder().decode(begin.subarray(0, 1_024))),
    [begin, file],
  )
  const format = form.values.format === '' ? detected : form.values.format
  const head = useMemo(() => {
    const { separator } = IMPORT_FORMATS[format ?? 'json']
    return begin && separator && readHead(begin, separator)
  }, [begin, format])
  const candidates = idCandidates(head)
  const idColumn = candidates.includes(form.values.idColumn) ? form.values.idColumn : ''
  /** Replaces the header by one with the chosen id. */
  const rename = useMemo(
    () =>
      head === undefined || idColumn === ''
        ? undefined
        : { line: renameToId(head, idColumn), start: head.start, end: head.end },
    [head, idColumn],
  )
  const preview = useMemo(() => {
    if (begin === undefined || format === undefined) return undefined
    const isWhole = file === null || file.size <= PREVIEW_BYTES
    const bytes = rename === undefined ? begin : replaceBytes(begin, rename)
    return previewSource(bytes, { format, isWhole, onConflict, types })
  }, [begin, format, file, onConflict, types, rename])
  const run = useImport(form, useImportDocuments(collectionRef), {
    close,
    cancelled: CANCELLED,
    errorsOf: (error) =>
      error.message === NO_JSON ? { format: NO_JSON } : { form: withNote(error) },
  })
  const start = () =>
    form.submit(() => {
      if (read === null) return form.showErrors({ file: UNREADABLE })
      if (format === undefined) return
      const source = file ?? new Blob([text])
      const renamed =
        rename && new Blob([source.slice(0, rename.start), rename.line, source.slice(rename.end)])
      run.begin({ source: renamed ?? source, format, onConflict, types })
    })
  const isEmpty = preview?.isEmpty === true
  return (
    <ImportDialog
      title={collection === undefined ? 'Import documents' : `Import documents into ${collection}`}
      name={collection}
      form={form}
      run={run}
      words={WORDS}
      saveLabel="Import documents"
      unavailable={isEmpty ? 'There is nothing to import.' : undefined}
      target={
        collection === undefined && (
          <CollectionField
            database={database}
            description={`In ${database}. A new collection is created with its first document.`}
            {...form.getInputProps('collection')}
          />
        )
      }
      preview={preview && <ImportPreview preview={preview} />}
      fileError={read === null ? UNREADABLE : undefined}
      errors={preview?.errors.map((message) => ({ message }))}
      outcome={(result) => (
        <ImportOutcome
          summary={describeImport(result)}
          {...listErrors(result.errors, format === 'json' ? 'Document' : 'Line')}
          name={collectionRef.collection}
          onClose={close}
        >
          <ShowImported collectionRef={collectionRef} result={result} />
        </ImportOutcome>
      )}
      onStart={start}
      onClose={close}
    >
      {(file !== null || pasted !== undefined) && (
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
              ...Object.entries(IMPORT_FORMATS).map(([value, { label }]) => ({ value, label })),
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
          {candidates.length > 0 && (
            <NativeSelect
              label="Id"
              data={[
                { value: '', label: 'Generated' },
                ...candidates.map((name) => ({ value: name, label: `Column ${name}` })),
              ]}
              {...form.getInputProps('idColumn')}
              value={idColumn}
            />
          )}
        </div>
      )}
    </ImportDialog>
  )
}

function replaceBytes(
  bytes: Uint8Array,
  { line, start, end }: { line: Uint8Array; start: number; end: number },
): Uint8Array {
  const all = new Uint8Array(bytes.length - (end - start) + line.length)
  all.set(bytes.subarray(0, start))
  all.set(line, start)
  all.set(bytes.subarray(end), start + line.length)
  return all
}

/** Button that shows the documents of an import. */
function ShowImported(props: { collectionRef: CollectionRef; result: ImportResponse }) {
  const { collectionRef, result } = props
  const { created, replaced, skipped, documents = [] } = result
  const { showCollection } = useDataLocation()
  const ids = documents.map(({ id }) => id)
  const filter = useImportedFilter(collectionRef, ids)
  if (created + replaced + skipped === 0) return null
  return (
    <Button variant="default" onClick={() => showCollection(collectionRef, { filter })}>
      {filter === undefined ? 'Show documents' : `Open the ${formatDocuments(created)}`}
    </Button>
  )
}

/** Shows the first documents of a source, and the types of their fields. */
function ImportPreview({ preview }: { preview: Preview }) {
  const { fields, documents, warning } = preview
  return (
    <>
      {documents.length > 0 && (
        <>
          <p className={classes.note}>The first documents, and the types of their fields</p>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard */}
          <div className={classes.scroller} tabIndex={0}>
            <table className={classes.table}>
              <thead>
                <tr>
                  {fields.map(({ field, types }) => (
                    <th key={field} scope="col">
                      <bdi>{field}</bdi>
                      <span>{types}</span>
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {documents.map((document, at) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: documents may have no id yet
                  <tr key={at}>
                    {fields.map(({ field }) => {
                      const { text, kind } = formatCell(valueAt(document, [field]))
                      return (
                        <td key={field} dir={kind === 'text' ? 'auto' : undefined}>
                          {text}
                        </td>
                      )
                    })}
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </>
      )}
      {warning !== undefined && <p className="warning">{warning}</p>}
    </>
  )
}
