import { awaitResponse, requestHeaders, requireOk } from '../../api/client.ts'
import { saveFile } from '../../ui/text/save-file.ts'
import { shellQuote } from '../../ui/text/shell-quote.ts'
import { toApiPath } from '../model/api-url.ts'
import { conditionsOf } from '../model/conditions.ts'
import type { CollectionRef } from '../use-data-location.ts'
import type { ExportControl } from './document-exports.tsx'

export const EXPORT_FORMATS = { ndjson: 'NDJSON', csv: 'CSV', json: 'JSON array' } as const

export type ExportFormat = keyof typeof EXPORT_FORMATS

export interface DocumentExport extends ExportControl {
  readonly collectionRef: CollectionRef
  readonly filter: string | undefined
  readonly sort: string | undefined
  readonly format: ExportFormat
}

/**
 * Downloads all documents that match, and saves them as a file once they are complete. Resolves with
 * its name.
 */
export async function exportDocuments(options: DocumentExport): Promise<string> {
  const { collectionRef, filter, sort, format, signal, onProgress } = options
  const conditions = [...conditionsOf(filter), { name: 'export-as', value: format }]
  const url = toApiPath(collectionRef, conditions, sort)
  // Not a link to the URL: a failed download does not say why.
  const response = await requireOk(fetch(url, { headers: requestHeaders(), signal }))
  const content = await awaitResponse(collect(response, onProgress))
  const name = `${collectionRef.collection}.${format}`
  saveFile(name, content, response.headers.get('Content-Type') ?? '')
  return name
}

/** Size of the parts of a download, bytes. Browsers move them from memory to the disk. */
const PART_BYTES = 4 * 1024 * 1024

async function collect(response: Response, onProgress: (bytes: number) => void): Promise<Blob> {
  const parts: Blob[] = []
  let chunks: Uint8Array<ArrayBuffer>[] = []
  let size = 0
  let total = 0
  const addPart = () => {
    parts.push(new Blob(chunks))
    chunks = []
    size = 0
    onProgress(total)
  }
  const reader = response.body?.getReader()
  for (;;) {
    const { done = true, value } = (await reader?.read()) ?? {}
    if (done || value === undefined) break
    chunks.push(value)
    size += value.length
    total += value.length
    if (size >= PART_BYTES) addPart()
  }
  addPart()
  return new Blob(parts)
}

/** Returns the command that downloads all documents at a URL of the API as NDJSON. */
export const toCurl = (url: string): string =>
  `curl -H "Authorization: Bearer $TOKEN" -H 'Accept: application/x-ndjson' ${shellQuote(url)}`

/** Returns JavaScript that reads all documents at a URL of the API. */
export const toFetch = (
  url: string,
): string => `const response = await fetch(${JSON.stringify(url)}, {
  headers: { Accept: 'application/x-ndjson', Authorization: \`Bearer \${token}\` },
})
const lines = (await response.text()).split('\\n').filter(Boolean)
const documents = lines.map((line) => JSON.parse(line))`
