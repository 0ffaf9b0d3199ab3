import type { EndpointRecord } from '../../server/contract/endpoint.ts'
import { fileTime, saveFile } from '../ui/save-file.ts'
import type { EndpointRow } from './endpoint-rows.ts'

/** What is asked of a row to be exported. */
export type ExportedRow = Pick<EndpointRow, 'address' | 'databases'>

/**
 * Saves endpoints as `gatehouse-endpoints-<time in UTC>.json`, which the import takes again.
 *
 * @returns how many it holds: one that was removed and drains is none.
 */
export function exportEndpoints(rows: readonly ExportedRow[], now = new Date()): number {
  const records = exportedRecords(rows)
  const name = `gatehouse-endpoints-${fileTime(now)}.json`
  saveFile(name, toText(records), 'application/json')
  return records.length
}

/** Endpoints in the shape and the order of `GET /_api/endpoint` (seed 000), nothing added. */
export const exportedRecords = (rows: readonly ExportedRow[]): EndpointRecord[] =>
  rows
    .flatMap(({ address, databases }) =>
      databases === null ? [] : [{ endpoint: address, databases: [...databases] }],
    )
    .sort((a, b) => (a.endpoint < b.endpoint ? -1 : 1))

/** A JSON array with one endpoint a line: two exports are compared line by line. */
export const toText = (records: readonly EndpointRecord[]): string =>
  records.length === 0
    ? '[]\n'
    : `[\n${records.map((record) => `  ${JSON.stringify(record)}`).join(',\n')}\n]\n`
