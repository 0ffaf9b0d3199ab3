import { useQueryClient } from '@tanstack/react-query'
import type { OnConflict } from '../../../../server/contract/import.ts'
import type { DatabaseImportResult } from '../../../../server/contract/transfer.ts'
import { databaseApi, readJson } from '../../../api/client.ts'
import { databasesQuery } from '../../../api/queries.ts'
import { useSingleMutation } from '../../../shared/forms/use-single-mutation.ts'
import { createImportUpload, describeImport } from '../../../shared/import/describe-import.ts'
import { SourceError } from '../../../shared/import/import-failure.ts'
import type { ImportControl } from '../../../shared/import/use-import.ts'
import { showToast } from '../../../shared/toast/toast.ts'
import { formatCount } from '../../../ui/text/format-number.ts'
import { readExportPreview } from './preview-export.ts'

export interface DatabaseImport extends ImportControl {
  readonly database: string
  readonly file: File
  /** Undefined: the server rejects the import if the database contains documents. */
  readonly onConflict: OnConflict | undefined
}

async function importDatabase(input: DatabaseImport): Promise<DatabaseImportResult> {
  const { database, file, onConflict } = input
  const { error } = await readExportPreview(file)
  if (error !== undefined) throw new SourceError(error)
  const client = databaseApi(database, createImportUpload(input))
  const request = { query: onConflict === undefined ? {} : { 'on-conflict': onConflict } }
  const headers = { 'Content-Type': 'application/x-ndjson' }
  const result: unknown = await readJson(
    client._import.$post(request, { headers, init: { body: file } }),
  )
  return result as DatabaseImportResult
}

/** Imports an export into an existing database. What was stored before a failure stays. */
export function useImportDatabase() {
  const queryClient = useQueryClient()
  return useSingleMutation({
    mutationFn: importDatabase,
    onSuccess: (result) => showToast({ text: describeDatabaseImport(result) }),
    onSettled: (_, __, { database }) => {
      // The databases with their sizes and collections, and the documents that are shown.
      for (const queryKey of [databasesQuery.queryKey, ['document', database], ['index', database]])
        void queryClient.invalidateQueries({ queryKey })
    },
  })
}

/** Returns the result of an import in words: "Documents of 2 collections: 3 created, 1 failed." */
export function describeDatabaseImport(result: DatabaseImportResult): string {
  const { collections, created, replaced, skipped, failed, errors } = result
  const counts =
    created + replaced + skipped + failed === 0
      ? 'The export contains no documents.'
      : `Documents of ${formatCount(collections)} ${collections === 1 ? 'collection' : 'collections'}: ${describeImport(result)}`
  // The errors of documents are counted as failed.
  const isUndefined = failed === 0 && errors.length > 0
  return isUndefined ? `${counts} Some schemas or indexes could not be stored.` : counts
}
