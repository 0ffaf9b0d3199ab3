import type { Context } from 'hono'
import type { AppEnv } from '../../http/env.ts'
import type { CollectionType } from '../../http/input/accepted-type.ts'
import { streamText } from '../../http/output/stream-text.ts'
import type { CollectionRef } from '../../storage/document-ref.ts'
import { parseExportQuery } from '../query/query.ts'
import type { Exporter } from './exporter.ts'

export interface ExportCollectionDeps {
  readonly exporter: Exporter
  /** Called with the error that ended an export early. */
  readonly onExportError: (error: unknown) => void
}

const FORMATS = {
  'application/x-ndjson': { format: 'ndjson', type: 'application/x-ndjson' },
  'text/csv': { format: 'csv', type: 'text/csv; charset=utf-8; header=present' },
} as const

/** Returns the response to `GET /<collection>` with all documents that match, as NDJSON or CSV. */
export async function exportCollection(
  c: Context<AppEnv>,
  where: CollectionRef,
  accepted: Exclude<CollectionType, 'application/json'>,
  { exporter, onExportError }: ExportCollectionDeps,
): Promise<Response> {
  const { format, type } = FORMATS[accepted]
  const query = parseExportQuery(new URL(c.req.url).searchParams)
  const { signal } = c.req.raw
  const { chunks, deadline, index } = await exporter.begin(where, query, format, signal)
  // Errors of the query are sent before the first chunk.
  const { value: first = '' } = await chunks.next()
  const isPlanned = query.matches !== undefined || query.sort.length > 0
  const body = streamText(c, first ?? '', chunks, { deadline, onError: onExportError })
  return c.body(body, 200, {
    'Content-Type': type,
    'Content-Disposition': `attachment; filename="${where.collection}.${format}"`,
    Vary: 'Accept',
    ...(isPlanned && { 'Query-Plan': index === undefined ? 'scan' : `index=${index}` }),
  })
}
