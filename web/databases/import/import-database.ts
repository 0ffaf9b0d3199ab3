import { useQueryClient } from '@tanstack/react-query'
import type { OnConflict } from '../../../server/contract/import.ts'
import type { DatabaseImportResult } from '../../../server/contract/transfer.ts'
import { databaseApi, readJson } from '../../api/client.ts'
import { databasesQuery } from '../../api/queries.ts'
import { useSingleMutation } from '../../shared/forms/use-single-mutation.ts'
import { createImportUpload } from '../../shared/import/describe-import.ts'
import { SourceError } from '../../shared/import/source-error.ts'
import type { ImportControl } from '../../shared/import/use-import.ts'
import { showToast } from '../../shared/toast/toast.ts'
import { describeDatabaseImport } from './describe-database-import.ts'
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
      // The databases with their sizes and collections, and what the Documents pages show.
      for (const queryKey of [databasesQuery.queryKey, ['document', database], ['index', database]])
        void queryClient.invalidateQueries({ queryKey })
    },
  })
}
