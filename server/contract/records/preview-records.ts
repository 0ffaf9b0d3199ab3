import { Failure } from '../../failure.ts'
import type { Json } from '../json/json.ts'
import { parseStrictly } from '../json/strict-json.ts'
import { runSteps } from '../run-steps.ts'
import {
  createRecordReader,
  type ImportFormat,
  type ImportRecord,
  type ReadOptions,
} from './read-records.ts'

type Fields = Readonly<Record<string, Json>>

/** The first records of a source. */
export interface RecordsPreview {
  /** The documents that the server would accept. */
  readonly documents: readonly Fields[]
  /** Why the server would reject the first other record; without a line, it rejects the source. */
  readonly error: { readonly line: number | undefined; readonly message: string } | undefined
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
  const documents: Fields[] = []
  let error: RecordsPreview['error']
  let count = 0
  try {
    for (const raw of [...splitter.push(begin), ...(isWhole ? splitter.end() : [])]) {
      const record = runSteps(read(raw))
      if (record === undefined) continue
      const document = documentOf(record)
      if (!(document instanceof Failure)) documents.push(document)
      else error ??= { line: record.line, message: document.message }
      if (++count === max) break
    }
  } catch (failure) {
    if (!(failure instanceof Failure)) throw failure
    error = { line: undefined, message: failure.message }
  }
  return { documents, error }
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
