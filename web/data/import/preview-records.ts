import { parse } from 'csv-parse/browser/esm/sync'
import type { Json } from '../../../server/contract/json/json.ts'
import { parseStrictly } from '../../../server/contract/json/strict-json.ts'
import { CsvReader } from '../../../server/contract/records/csv-reader.ts'
import type {
  CsvOptions,
  ImportFormat,
  ImportRecord,
} from '../../../server/contract/records/import-record.ts'
import { LineReader } from '../../../server/contract/records/line-reader.ts'
import { Failure } from '../../../server/failure.ts'

type Fields = Readonly<Record<string, Json>>

/** The first records of a source. Lines are numbered as an import numbers them. */
export interface RecordsPreview {
  /** The documents that the server can read. */
  readonly records: readonly { readonly line: number; readonly document: Fields }[]
  /** Why the server would reject the other records; without a line, it rejects the source. */
  readonly errors: readonly { readonly line: number | undefined; readonly message: string }[]
}

/**
 * Returns the first records of a source as an import reads them. Ids and the schema of the
 * collection are not checked.
 *
 * @param isWhole whether `begin` is the whole source. The last record may otherwise be cut off, and
 * is omitted.
 * @param max maximum number of records.
 */
export function previewRecords(
  begin: Uint8Array,
  format: ImportFormat,
  isWhole: boolean,
  max: number,
  options?: CsvOptions,
): RecordsPreview {
  const records: { line: number; document: Fields }[] = []
  const errors: { line: number | undefined; message: string }[] = []
  const read = () =>
    format === 'csv' ? readCsv(begin, isWhole, max, options) : readLines(begin, isWhole)
  try {
    for (const record of read()) {
      const { line } = record
      const document = documentOf(record)
      if (document instanceof Failure) errors.push({ line, message: document.message })
      else records.push({ line, document })
      if (records.length + errors.length === max) break
    }
  } catch (failure) {
    if (!(failure instanceof Failure)) throw failure
    errors.push({ line: undefined, message: failure.message })
  }
  return { records, errors }
}

function readLines(begin: Uint8Array, isWhole: boolean): readonly ImportRecord[] {
  const reader = new LineReader()
  const records = reader.push(begin)
  return isWhole ? [...records, ...reader.end()] : records
}

/** @throws Failure `invalid` if the header cannot be used */
function readCsv(
  begin: Uint8Array,
  isWhole: boolean,
  max: number,
  options: CsvOptions | undefined,
): readonly ImportRecord[] {
  const reader = new CsvReader(options)
  const bytes = reader.skipPrologue(begin)
  let error: (Error & { code?: string }) | undefined
  try {
    // The header, and one record more: the last one may be cut off.
    parse(bytes, { ...reader.options, to: max + 2 })
  } catch (thrown) {
    error = thrown as Error
  }
  const isCutOff = !isWhole && (error === undefined || error.code === 'CSV_QUOTE_NOT_CLOSED')
  const { records } = reader.take(error)
  return isCutOff ? records.slice(0, -1) : records
}

/** Returns the document of a record, or why it is rejected. */
function documentOf(record: ImportRecord): Fields | Failure {
  if ('failure' in record) return record.failure
  try {
    const value = parseStrictly(record.text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
    return new Failure('invalid', 'A document must be a JSON object.')
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return error.code === 'bad-json' ? new Failure('bad-json', 'This is not JSON.') : error
  }
}
