import { Button, FileInput, NativeSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import * as z from 'zod/mini'
import { isDatabaseName } from '../../../server/contract/database.ts'
import type { OnConflict } from '../../../server/contract/import.ts'
import { useCreateDatabase } from '../../app/create-database.ts'
import { collectionsQuery, databasesQuery, endpointsQuery } from '../../app/queries.ts'
import { useDraftForm } from '../../shared/forms/use-draft-form.ts'
import { CANCELLED, storedNothing } from '../../shared/import/import-failure.ts'
import { ImportOutcome } from '../../shared/import/import-outcome.tsx'
import { ImportProgress } from '../../shared/import/import-progress.tsx'
import { useCancellableImport } from '../../shared/import/use-cancellable-import.ts'
import { useHasRole } from '../../shared/session/person.ts'
import { useIsServedHere } from '../../shared/session/use-is-served-here.ts'
import { FormFrame } from '../../shared/ui/form/form-frame.tsx'
import { SuggestField } from '../../shared/ui/form/suggest-field.tsx'
import { keepFocus } from '../../shared/ui/layout/keep-focus.ts'
import { Dialog } from '../../shared/ui/overlay/dialog.tsx'
import { UnavailableDialog } from '../../shared/ui/overlay/unavailable-dialog.tsx'
import { createErrors } from '../create/create-errors.ts'
import { nameError } from '../create/database-name.ts'
import { formatServingEndpoints } from '../database-rows.ts'
import { findDatabaseLink } from '../find-database-link.ts'
import { useDatabasesLocation } from '../use-databases-location.ts'
import { describeDatabaseImport } from './describe-database-import.ts'
import { ExportContents } from './export-contents.tsx'
import { useImportDatabase } from './import-database.ts'
import classes from './import-database-dialog.module.css'
import { importErrors, NOT_SERVED, notChosen } from './import-failure.ts'
import { type ExportPreview, readExportPreview } from './preview-export.ts'

/** Imports an export of a database, into an existing database or a new one. */
export function ImportDatabaseDialog() {
  const { closeImport } = useDatabasesLocation()
  if (useHasRole('operator')) return <ImportForm />
  return (
    <UnavailableDialog title="You are a viewer" onClose={closeImport}>
      Only operators and admins can import databases. Ask an admin for that role.
    </UnavailableDialog>
  )
}

interface ImportDraft {
  readonly file: File | null
  readonly database: string
  /** Empty: not chosen. */
  readonly onConflict: OnConflict | ''
  /** Whether an import of this input began, and may have stored documents without completing. */
  readonly begun: boolean
}

/** Schema of the form. `existing` are the databases that exist. */
const importSchema = (existing: readonly string[]) =>
  z.object({
    file: z
      .nullable(z.instanceof(File))
      .check(z.refine((file) => file !== null, 'Choose the file of an export.')),
    database: z.string().check(
      z.superRefine((database, issues) => {
        const name = database.trim()
        const message = existing.includes(name) ? undefined : nameError(name, [], true)
        if (message !== undefined) issues.addIssue(message)
      }),
    ),
  })

const conflicts: { value: ImportDraft['onConflict']; label: string }[] = [
  { value: '', label: 'Choose…' },
  { value: 'skip', label: 'Keep what is stored' },
  { value: 'replace', label: 'Replace what is stored' },
  { value: 'fail', label: 'Keep what is stored, and list it as an error' },
]

function ImportForm() {
  const { search, showDatabase, closeImport } = useDatabasesLocation()
  const [initial] = useState(search.open ?? '')
  const { data: existing = [] } = useQuery(databasesQuery)
  const { data: endpoints = [] } = useQuery(endpointsQuery)
  const isServedHere = useIsServedHere()
  const form = useDraftForm<ImportDraft>({
    draft: `import database ${initial}`,
    unstored: ['file'],
    initialValues: { file: null, database: initial, onConflict: '', begun: false },
    schema: importSchema(existing),
    groups: [['database', 'onConflict']],
  })
  const { file } = form.values
  const [read, setRead] = useState<{ readonly file: File; readonly preview: ExportPreview }>()
  const preview = read?.file === file ? read?.preview : undefined
  const database = form.values.database.trim()
  const exists = existing.includes(database)
  const isServed = isServedHere(database)
  const { data: collections = [] } = useQuery({
    ...collectionsQuery(database),
    enabled: exists && isServed,
  })
  const stored = exists ? collections.map(({ name }) => name) : []
  /** Whether the user chooses what happens to documents and schemas that exist. */
  const asksConflict =
    exists &&
    (stored.length > 0 ||
      form.values.onConflict !== '' ||
      // The server has found documents that were not listed.
      form.errors.onConflict !== undefined)
  const running = useCancellableImport(closeImport)
  const create = useCreateDatabase({ acceptExisting: true })
  const load = useImportDatabase()

  const { database: imported = database } = load.variables ?? {}

  const begin = (source: File, onConflict: OnConflict | undefined) => {
    const control = running.begin()
    // After a reload, the form says that the import was interrupted.
    form.setFieldValue('begun', true)
    load.mutate(
      { database, file: source, onConflict, ...control },
      {
        onSettled: running.end,
        onSuccess: form.deleteDraft,
        onError: (error) => {
          const errors = control.signal.aborted
            ? { form: CANCELLED }
            : importErrors(error, database)
          form.setFieldValue('begun', errors.form !== undefined && !storedNothing(error))
          form.showErrors(errors)
        },
      },
    )
  }
  const submit = () =>
    form.submit(({ file, onConflict }) => {
      if (file === null) return
      if (!isServed) return form.showErrors({ database: NOT_SERVED })
      if (preview?.error !== undefined) return form.showErrors({ file: preview.error })
      if (asksConflict && onConflict === '') {
        return form.showErrors({ onConflict: notChosen(database) })
      }
      const chosen = asksConflict && onConflict !== '' ? onConflict : undefined
      if (exists) return begin(file, chosen)
      create.mutate(database, {
        onSuccess: () => begin(file, chosen),
        onError: (error) => form.showErrors(createErrors(error, 'database')),
      })
    })
  const chooseFile = async (chosen: File | null) => {
    form.setFieldValue('file', chosen)
    if (chosen === null) return
    const preview = await readExportPreview(chosen)
    setRead({ file: chosen, preview })
    const now = form.getValues()
    if (now.file === chosen && now.database.trim() === '' && preview.database !== undefined)
      form.setFieldValue('database', preview.database)
  }
  return (
    <Dialog
      title="Import database"
      width={640}
      deliberate={file !== null}
      onClose={() => (load.isPending ? running.setLeaving(!running.isLeaving) : closeImport())}
      returnTo={(opener) => opener ?? findDatabaseLink(imported)}
    >
      {load.isPending ? (
        <ImportProgress running={running} />
      ) : load.data !== undefined ? (
        <ImportOutcome
          summary={describeDatabaseImport(load.data)}
          errors={load.data.errors}
          name={imported}
          unit="Line"
          onClose={closeImport}
        >
          <Button variant="default" onClick={() => showDatabase(imported)}>
            Show database
          </Button>
        </ImportOutcome>
      ) : (
        <FormFrame
          form={form}
          saveLabel="Import database"
          busy={create.isPending}
          sentences={
            exists || !isServed || !isDatabaseName(database)
              ? []
              : [`${database} is created first.`, formatServingEndpoints(database, endpoints)]
          }
          onSave={submit}
          onCancel={closeImport}
        >
          {form.restored?.begun === true && <p className="warning">{INTERRUPTED}</p>}
          <div className={classes.fields}>
            <FileInput
              label="File"
              description="An export of a database, of any size"
              placeholder="Choose a file"
              accept=".ndjson,.jsonl,.json,application/x-ndjson"
              clearable
              clearButtonProps={{ 'aria-label': 'Remove the file', ref: keepFocus }}
              data-autofocus
              {...form.getInputProps('file')}
              error={form.errors.file ?? preview?.error}
              onChange={chooseFile}
            />
            <SuggestField
              label="Import into database"
              description="An existing database, or the name of a new one"
              placeholder="shop"
              suggestions={existing}
              // The name may be new, and begin like that of another database.
              highlight={false}
              {...form.getInputProps('database')}
              error={form.errors.database ?? (isServed ? undefined : NOT_SERVED)}
            />
            {asksConflict && (
              <NativeSelect
                label="If a document or schema exists"
                description="Other documents and schemas are added. Existing indexes are kept."
                data={conflicts}
                {...form.getInputProps('onConflict')}
              />
            )}
            {preview !== undefined && (
              <ExportContents preview={preview} target={database} stored={stored} />
            )}
          </div>
        </FormFrame>
      )}
    </Dialog>
  )
}

const INTERRUPTED =
  'An import was interrupted. Some of its documents may have been stored. To continue, import the file again and keep or replace what is stored.'
