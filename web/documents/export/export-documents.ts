import { requireOk } from '../../app/api.ts'
import { saveFile } from '../../shared/ui/text/save-file.ts'
import { collectionClient, toQuery } from '../document-client.ts'
import { conditionsOf } from '../model/conditions.ts'
import type { CollectionRef } from '../use-documents-location.ts'
import { createArrayWriter } from './json-array.ts'

export const EXPORT_FORMATS = {
  ndjson: { label: 'NDJSON', type: 'application/x-ndjson' },
  csv: { label: 'CSV', type: 'text/csv' },
  json: { label: 'JSON array', type: 'application/json' },
} as const

export type ExportFormat = keyof typeof EXPORT_FORMATS

/** Maximum size of the parts that are kept in memory; browsers may store a `Blob` on disk. */
const PART_BYTES = 8 * 1024 * 1024

export interface DocumentExport {
  readonly collectionRef: CollectionRef
  readonly filter: string | undefined
  readonly sort: string | undefined
  readonly format: ExportFormat
  readonly signal: AbortSignal
  /** Called with the number of bytes received so far. */
  readonly onProgress: (bytes: number) => void
}

/** Downloads all documents that match as a file. Resolves with its name. */
export async function exportDocuments(options: DocumentExport): Promise<string> {
  const { collectionRef, filter, sort, format, signal, onProgress } = options
  const { param, collection } = collectionClient(collectionRef)
  const order: Record<string, string[]> = sort === undefined ? {} : { sort: [sort] }
  const accept = format === 'csv' ? 'text/csv' : 'application/x-ndjson'
  const response = await requireOk(
    collection.$get(
      { param, query: { ...toQuery(conditionsOf(filter)), ...order } },
      { headers: { Accept: accept }, init: { signal } },
    ),
  )
  const writer = format === 'json' ? createArrayWriter() : undefined
  const file: Blob[] = []
  let parts: BlobPart[] = []
  let [pending, received] = [0, 0]
  const reader = (response.body as ReadableStream<Uint8Array<ArrayBuffer>>).getReader()
  const read = () =>
    reader.read().catch((cause: unknown) => {
      throw new Error('The connection broke before the end. Try again.', { cause })
    })
  for (let next = await read(); !next.done; next = await read()) {
    const chunk = next.value
    received += chunk.length
    pending += chunk.length
    parts.push(writer === undefined ? chunk : writer.write(chunk))
    onProgress(received)
    if (pending < PART_BYTES) continue
    file.push(new Blob(parts))
    parts = []
    pending = 0
  }
  if (writer !== undefined) parts.push(writer.end())
  const name = `${collectionRef.collection}.${format}`
  saveFile(name, new Blob([...file, ...parts]), EXPORT_FORMATS[format].type)
  return name
}
