import { Failure } from '../../failure.ts'
import type { Json } from '../json/json.ts'
import { parseStrictly } from '../json/strict-json.ts'
import {
  createRecordReader,
  type ImportFormat,
  type ImportRecord,
  type ReadOptions,
} from './read-records.ts'

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
  options?: ReadOptions,
): RecordsPreview {
  const { splitter, read } = createRecordReader(format, options)
  const records: { line: number; document: Fields }[] = []
  const errors: { line: number | undefined; message: string }[] = []
  try {
    for (const raw of [...splitter.push(begin), ...(isWhole ? splitter.end() : [])]) {
      const record = read(raw)
      if (record === undefined) continue
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
