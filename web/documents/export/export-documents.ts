import { requestHeaders, requireOk } from '../../app/api.ts'
import { toApiPath } from '../model/api-url.ts'
import { conditionsOf } from '../model/conditions.ts'
import type { CollectionRef } from '../use-documents-location.ts'

export const EXPORT_FORMATS = { ndjson: 'NDJSON', csv: 'CSV', json: 'JSON array' } as const

export type ExportFormat = keyof typeof EXPORT_FORMATS

export interface DocumentExport {
  readonly collectionRef: CollectionRef
  readonly filter: string | undefined
  readonly sort: string | undefined
  readonly format: ExportFormat
  readonly signal: AbortSignal
}

/**
 * Downloads all documents that match. The browser writes them to a file as they arrive, and shows
 * the progress. Resolves with the name of the file when the download begins.
 */
export async function exportDocuments(options: DocumentExport): Promise<string> {
  const { collectionRef, filter, sort, format, signal } = options
  const conditions = [...conditionsOf(filter), { name: 'export-as', value: format }]
  const url = toApiPath(collectionRef, conditions, sort)
  // A failed download does not say why, so request the export first, up to its first documents.
  const response = await requireOk(fetch(url, { headers: requestHeaders(), signal }))
  await response.body?.cancel()
  const link = document.createElement('a')
  link.href = url
  link.download = `${collectionRef.collection}.${format}`
  link.click()
  return link.download
}
