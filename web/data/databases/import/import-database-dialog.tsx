import { Button, NativeSelect } from '@mantine/core'
import type { FormErrors } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import * as z from 'zod/mini'
import { isDatabaseName } from '../../../../server/contract/database.ts'
import type { OnConflict } from '../../../../server/contract/import.ts'
import { ApiFailure } from '../../../api/client.ts'
import { collectionsQuery, databasesQuery, endpointsQuery } from '../../../api/queries.ts'
import { useHasRole } from '../../../api/session/person.ts'
import { useIsServedHere } from '../../../api/session/use-is-served-here.ts'
import { useCreateDatabase } from '../../../shared/create-database.ts'
import { DOCUMENT_WORDS, listErrors } from '../../../shared/import/describe-import.ts'
import { ImportDialog } from '../../../shared/import/import-dialog.tsx'
import { CANCELLED, SourceError, withNote } from '../../../shared/import/import-failure.ts'
import { ImportOutcome } from '../../../shared/import/import-outcome.tsx'
import { useImport, useImportForm, useRead } from '../../../shared/import/use-import.ts'
import { useOwnRole } from '../../../shared/session/role-labels.ts'
import { SuggestField } from '../../../ui/form/suggest-field.tsx'
import { UnavailableDialog } from '../../../ui/overlay/unavailable-dialog.tsx'
import { useDataLocation } from '../../use-data-location.ts'
import { createErrors, nameError } from '../database-name.ts'
import { formatServingEndpoints } from '../database-rows.ts'
import { ExportContents } from './export-contents.tsx'
import { describeDatabaseImport, useImportDatabase } from './import-database.ts'
import { readExportPreview } from './preview-export.ts'

/** Imports an export of a database, into an existing database or a new one. */
export function ImportDatabaseDialog() {
  const { close } = useDataLocation()
  const ownRole = useOwnRole()
  if (useHasRole('operator')) return <ImportForm />
  return (
    <UnavailableDialog title={ownRole} onClose={close}>
      Only operators and admins can import databases. Ask an admin for that role.
    </UnavailableDialog>
  )
}

interface DatabaseOptions {
  readonly database: string
  /** Empty: not chosen. */
  readonly onConflict: OnConflict | ''
}

const WORDS = {
  ...DOCUMENT_WORDS,
  file: 'An export of a database, of any size',
  accept: '.ndjson,.jsonl,.json,application/x-ndjson',
  interrupted:
    'An import was interrupted. Some of its documents may have been stored. To continue, import the file again and keep or replace what is stored.',
}

/** Schema of the form. `existing` are the databases that exist. */
const importSchema = (existing: readonly string[]) =>
  z.object({
    database: z.string().check(
      z.superRefine((database, issues) => {
        const name = database.trim()
        const message = existing.includes(name) ? undefined : nameError(name, [], true)
        if (message !== undefined) issues.addIssue(message)
      }),
    ),
  })

const conflicts: { value: DatabaseOptions['onConflict']; label: string }[] = [
  { value: '', label: 'Choose…' },
  { value: 'skip', label: 'Keep what is stored' },
  { value: 'replace', label: 'Replace what is stored' },
  { value: 'fail', label: 'Keep what is stored, and list it as an error' },
]

function ImportForm() {
  const { database: current = '', showDatabase, close } = useDataLocation()
  const [initial] = useState(current)
  const { data: existing = [] } = useQuery(databasesQuery)
  const { data: endpoints = [] } = useQuery(endpointsQuery)
  const isServedHere = useIsServedHere()
  const form = useImportForm<DatabaseOptions>('Choose the file of an export.', {
    draft: `import database ${initial}`,
    initialValues: { database: initial, onConflict: '' },
    schema: importSchema(existing),
    groups: [['database', 'onConflict']],
  })
  const { file } = form.values
  const preview = useRead(file, async (chosen) => {
    const found = await readExportPreview(chosen)
    const now = form.getValues()
    if (now.file === chosen && now.database.trim() === '' && found.database !== undefined)
      form.setFieldValue('database', found.database)
    return found
  })
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
  const create = useCreateDatabase({ acceptExisting: true })
  const load = useImportDatabase()
  const { database: imported = database } = load.variables ?? {}
  const run = useImport(form, load, {
    close,
    cancelled: CANCELLED,
    errorsOf: (error) => importErrors(error, database),
  })
  const start = () =>
    form.submit(({ file, onConflict }) => {
      if (file === null) return
      if (!isServed) return form.showErrors({ database: NOT_SERVED })
      if (preview?.error !== undefined) return form.showErrors({ file: preview.error })
      if (asksConflict && onConflict === '') {
        return form.showErrors({ onConflict: notChosen(database) })
      }
      const chosen = asksConflict && onConflict !== '' ? onConflict : undefined
      const begin = () => run.begin({ database, file, onConflict: chosen })
      if (exists) return begin()
      create.mutate(database, {
        onSuccess: begin,
        onError: (error) => form.showErrors(createErrors(error, 'database')),
      })
    })
  return (
    <ImportDialog
      title="Import database"
      width={640}
      form={form}
      run={run}
      words={WORDS}
      saveLabel="Import database"
      busy={create.isPending}
      sentences={
        exists || !isServed || !isDatabaseName(database)
          ? []
          : [`${database} is created first.`, formatServingEndpoints(database, endpoints)]
      }
      fileError={preview?.error}
      preview={preview && <ExportContents preview={preview} target={database} stored={stored} />}
      outcome={(result) => (
        <ImportOutcome
          summary={describeDatabaseImport(result)}
          {...listErrors(result.errors, 'Line')}
          name={imported}
          onClose={close}
        >
          <Button variant="default" onClick={() => showDatabase(imported)}>
            Show database
          </Button>
        </ImportOutcome>
      )}
      onStart={start}
      onClose={close}
    >
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
    </ImportDialog>
  )
}

/** The error of a database that the endpoint of this page does not serve. */
const NOT_SERVED =
  'The endpoint that you are connected through does not serve this database. Add the database to its mapping, or open the console through an endpoint that serves it.'

/** Returns the error of an import that does not say what happens to stored documents. */
const notChosen = (database: string): string =>
  `${database} contains documents. Choose what happens to them.`

/** Returns why an import failed, and what it has stored, at the field that can correct it. */
export function importErrors(error: Error, database: string): FormErrors {
  if (error instanceof SourceError) return { file: error.message }
  if (!(error instanceof ApiFailure)) return { form: withNote(error) }
  if (error.field === 'on-conflict') {
    return { onConflict: notChosen(database) }
  }
  if (error.status === 404) {
    return {
      form: `There is no database ${database}, or the endpoint that you are connected through does not serve it. Another person may have dropped it.`,
    }
  }
  return { form: withNote(error) }
}
