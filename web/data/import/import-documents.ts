import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query'
import { COLLECTION_PARAMETER } from '../../../server/contract/document.ts'
import type { CsvTypes, ImportResponse, OnConflict } from '../../../server/contract/import.ts'
import { databaseApi, readJson } from '../../api/client.ts'
import { collectionsQuery } from '../../api/queries.ts'
import { useSingleMutation } from '../../shared/forms/use-single-mutation.ts'
import { createImportUpload, describeImport } from '../../shared/import/describe-import.ts'
import { isBinary, NO_TEXT, SourceError, UNREADABLE } from '../../shared/import/import-failure.ts'
import type { ImportControl } from '../../shared/import/use-import.ts'
import { showToast, type ToastOptions } from '../../shared/toast/toast.ts'
import { formatFilter } from '../model/conditions.ts'
import { changeToast } from '../mutations/document-toast.ts'
import { countQuery, listKey } from '../queries.ts'
import type { CollectionRef } from '../use-data-location.ts'
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

/** Maximum number of ids that a filter names if a range of ids matches the same documents. */
const MAX_NAMED = 10

/** Maximum length of a filter in the URL. Servers and proxies reject long URLs. */
const MAX_LENGTH = 8_000

/**
 * Returns a filter that matches exactly these documents: by the range of their ids if it contains no
 * other document, otherwise by each id. Undefined while that is not known, or if the filter would be
 * too long.
 */
export function useImportedFilter(
  collectionRef: CollectionRef,
  ids: readonly string[],
): string | undefined {
  const { among, range } = importedFilters(ids)
  const isMany = ids.length > MAX_NAMED
  const { data: count, isPending } = useQuery({
    ...countQuery(collectionRef, range),
    enabled: isMany,
  })
  if (isMany && isPending) return undefined
  if (isMany && count === ids.length) return range
  return ids.length > 0 && encodeURIComponent(among).length <= MAX_LENGTH ? among : undefined
}

/** Returns the filters that match ids, and all ids between them. */
export function importedFilters(ids: readonly string[]) {
  const sorted = ids.toSorted()
  const values = sorted.map((id) => id.replace(/[\\,]/g, '\\$&'))
  return {
    among: formatFilter([{ name: 'id:in', value: values.join(',') }]),
    range: formatFilter([
      { name: 'id:gte', value: sorted[0] ?? '' },
      { name: 'id:lte', value: sorted.at(-1) ?? '' },
    ]),
  }
}
