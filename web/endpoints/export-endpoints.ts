import type { EndpointRecord } from '../../server/contract/endpoints/endpoint.ts'
import type { Policy } from '../../server/contract/endpoints/policy.ts'
import { fileTime, saveFile } from '../ui/text/save-file.ts'
import type { EndpointRow } from './model/endpoint-rows.ts'

export type ExportedRow = Pick<EndpointRow, 'address' | 'databases'> &
  Partial<Pick<EndpointRow, 'policy'>>

/** An endpoint in a file; without `policy` in files of viewers, who may not read it. */
type ExportedEndpoint = EndpointRecord & { readonly policy?: Policy | null }

/**
 * Saves endpoints as `gatehouse-endpoints-<time in UTC>.json`, which the import accepts.
 *
 * @returns the number of endpoints in the file; removed endpoints that are draining are omitted.
 */
export function exportEndpoints(rows: readonly ExportedRow[], now = new Date()): number {
  const records = toExportRecords(rows)
  const name = `gatehouse-endpoints-${fileTime(now)}.json`
  saveFile(name, formatExport(records), 'application/json')
  return records.length
}

/** Returns endpoints in the format and order of `GET /_api/endpoint`, with their policies. */
export const toExportRecords = (rows: readonly ExportedRow[]): ExportedEndpoint[] =>
  rows
    .flatMap(({ address, databases, policy }) =>
      databases === null
        ? []
        : { endpoint: address, databases: [...databases], ...(policy !== undefined && { policy }) },
    )
    .sort((a, b) => (a.endpoint < b.endpoint ? -1 : 1))

/** Returns a JSON array with one endpoint per line, so that exports can be compared with `diff`. */
export const formatExport = (records: readonly ExportedEndpoint[]): string =>
  records.length === 0
    ? '[]\n'
    : `[\n${records.map((record) => `  ${JSON.stringify(record)}`).join(',\n')}\n]\n`
