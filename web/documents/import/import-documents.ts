import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { COLLECTION_PARAMETER } from '../../../server/contract/document.ts'
import type { CsvTypes, ImportResponse, OnConflict } from '../../../server/contract/import.ts'
import { databaseApi, readJson } from '../../api/client.ts'
import { collectionsQuery } from '../../api/queries.ts'
import { useSingleMutation } from '../../shared/forms/use-single-mutation.ts'
import { createImportUpload, describeImport } from '../../shared/import/describe-import.ts'
import { isBinary, NO_TEXT, SourceError, UNREADABLE } from '../../shared/import/source-error.ts'
import type { ImportControl } from '../../shared/import/use-import.ts'
import { showToast, type ToastOptions } from '../../shared/toast/toast.ts'
import { changeToast } from '../mutations/document-toast.ts'
import { listKey } from '../queries.ts'
import type { CollectionRef } from '../use-documents-location.ts'
import { toLines } from './json-to-lines.ts'
import { PREVIEW_BYTES } from './preview.ts'
import { IMPORT_FORMATS, type ImportFormat } from './read-source.ts'

export interface DocumentImport extends ImportControl {
  readonly source: Blob
  readonly format: ImportFormat
  readonly onConflict: OnConflict
  readonly types: CsvTypes
}

async function importDocuments(
  { database, collection }: CollectionRef,
  { source, format, onConflict, types, ...control }: DocumentImport,
): Promise<ImportResponse> {
  const client = databaseApi(database, createImportUpload(control))
  const { type, separator } = IMPORT_FORMATS[format]
  const request = {
    param: { collection: encodeURIComponent(collection) },
    query: {
      'on-conflict': onConflict,
      ...(separator === undefined ? {} : { 'csv-separator': separator, 'csv-types': types }),
    },
  }
  // The server would report a line or a header that is not UTF-8.
  const begin = await source
    .slice(0, PREVIEW_BYTES)
    .arrayBuffer()
    .catch(() => {
      throw new SourceError(UNREADABLE)
    })
  if (isBinary(new Uint8Array(begin))) throw new SourceError(NO_TEXT)
  const body = format === 'json' ? await toLines(source, control.signal) : source
  const headers = { 'Content-Type': type, Prefer: 'return=representation' }
  const result: unknown = await readJson(
    client[COLLECTION_PARAMETER].$post(request, { headers, init: { body } }),
  )
  return result as ImportResponse
}

/** Imports documents one by one. Those that were stored before a failure stay. */
export function useImportDocuments(collectionRef: CollectionRef) {
  const queryClient = useQueryClient()
  return useSingleMutation({
    mutationFn: (source: DocumentImport) => importDocuments(collectionRef, source),
    onSuccess: (result) => showToast(importToast(queryClient, collectionRef, result)),
    onSettled: () => {
      void queryClient.invalidateQueries({ queryKey: listKey(collectionRef) })
      void queryClient.invalidateQueries({
        queryKey: collectionsQuery(collectionRef.database).queryKey,
      })
    },
  })
}

/** Returns the toast of an import, with Undo if it only created documents and not too many. */
function importToast(
  queryClient: QueryClient,
  collectionRef: CollectionRef,
  result: ImportResponse,
): ToastOptions {
  const { created, replaced, skipped, failed, documents = [] } = result
  const changes =
    replaced === 0 ? documents.map((after) => ({ id: after.id, before: undefined, after })) : []
  const outcome = { verb: 'created', changes, failures: [], gone: 0 } as const
  const isComplete = created > 0 && created === changes.length && skipped + failed === 0
  const toast = changeToast(queryClient, collectionRef, outcome)
  // While the dialog covers the page, the toast would otherwise end before Undo is reached.
  const stays = toast.undo !== undefined
  return { ...toast, stays, ...(!isComplete && { text: describeImport(result) }) }
}
