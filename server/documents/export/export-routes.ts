import type { Context } from 'hono'
import type { AppEnv } from '../../http/env.ts'
import { isNotModified, requestHeader } from '../../http/input/headers.ts'
import { acceptedType, VARY_ACCEPT } from '../../http/output/content-negotiation.ts'
import { streamText } from '../../http/output/stream-text.ts'
import type { CollectionRef } from '../../storage/document-ref.ts'
import { skippedHeader } from '../damage-log.ts'
import {
  type ExportFormat,
  isPlanned,
  parseExportFormat,
  parseExportQuery,
} from '../query/query.ts'
import type { Exporter } from './exporter.ts'

export interface ExportCollectionDeps {
  readonly exporter: Exporter
  /** Called with the error that ended an export before its last document. */
  readonly onExportError: (error: unknown) => void
}

const TYPES: Readonly<Record<ExportFormat, string>> = {
  ndjson: 'application/x-ndjson',
  csv: 'text/csv; charset=utf-8; header=present',
  json: 'application/json',
}

/**
 * Returns the format of the requested export; undefined for a request of a page. Links
 * in a browser cannot set `Accept`, so the URL overrides it.
 *
 * @throws Failure `bad-parameter`
 */
export function exportFormatOf(
  c: Context<AppEnv>,
  parameters: URLSearchParams,
): ExportFormat | undefined {
  const format = parseExportFormat(parameters)
  if (format !== undefined) return format
  const accepted = acceptedType(requestHeader(c, 'accept'))
  if (accepted === 'application/json') return undefined
  return accepted === 'text/csv' ? 'csv' : 'ndjson'
}

/** Returns the response to `GET /<collection>` with all documents that match. */
export async function exportCollection(
  c: Context<AppEnv>,
  where: CollectionRef,
  format: ExportFormat,
  parameters: URLSearchParams,
  { exporter, onExportError }: ExportCollectionDeps,
): Promise<Response> {
  const query = parseExportQuery(parameters, format)
  if (isNotModified(c)) return c.body(null, 304, VARY_ACCEPT)
  const authorizedAt = performance.now()
  const { chunks, deadline, index, damaged } = await exporter.begin(
    where,
    query,
    format,
    c.req.raw.signal,
  )
  // Errors of the query are sent before the first chunk.
  const { value: first } = await chunks.next()
  const body = streamText(c, first ?? '', chunks, {
    authorizedAt,
    deadline,
    onError: onExportError,
  })
  return c.body(body, 200, {
    'Content-Type': TYPES[format],
    'Content-Disposition': `attachment; filename="${where.collection}.${format}"`,
    ...VARY_ACCEPT,
    ...skippedHeader(damaged.size),
    ...(isPlanned(query) && { 'Query-Plan': index === undefined ? 'scan' : `index=${index}` }),
  })
}
