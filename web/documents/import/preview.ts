import type { Json } from '../../../server/contract/json/json.ts'
import { valueAt } from '../../../server/contract/query/field-path.ts'
import { previewRecords } from '../../../server/contract/records/preview-records.ts'
import { exportHead } from '../../../server/contract/transfer.ts'
import { isBinary, NO_TEXT, SourceError } from '../../shared/import/source-error.ts'
import { createArraySplitter, createDecoder, errorAtEnd, NO_JSON } from './array-splitter.ts'
import { IMPORT_FORMATS, type ImportFormat } from './read-source.ts'

/** Number of documents in a preview. */
const ROWS = 5
/** Number of fields in a preview. */
const FIELDS = 12
/** Number of bytes of a file that a preview reads. */
export const PREVIEW_BYTES = 64 * 1024

type Fields = Readonly<Record<string, Json>>

/** The first documents of a source. */
export interface Preview {
  /** The fields, each with the types of its values in words. */
  readonly fields: readonly { readonly field: string; readonly types: string }[]
  readonly documents: readonly Fields[]
  /**
   * Why the server would reject the source, or the first of these documents that it would reject.
   * Ids and the schema are not checked.
   */
  readonly error: string | undefined
}

/**
 * Returns the first documents of a source as the server reads them.
 *
 * @param isWhole whether `begin` is the whole source.
 */
export function previewSource(begin: Uint8Array, format: ImportFormat, isWhole: boolean): Preview {
  const { documents, error } = readDocuments(begin, format, isWhole)
  const names = [...new Set(documents.flatMap((document) => Object.keys(document)))]
  return {
    fields: names.slice(0, FIELDS).map((field) => ({
      field,
      types: [...new Set(documents.flatMap((each) => typeOf(valueAt(each, [field]))))].join(', '),
    })),
    documents,
    error,
  }
}

interface Read {
  readonly documents: readonly Fields[]
  readonly error: string | undefined
}

function readDocuments(begin: Uint8Array, format: ImportFormat, isWhole: boolean): Read {
  if (isBinary(begin)) return { documents: [], error: NO_TEXT }
  if (isWhole && begin.every(isSpace)) return { documents: [], error: 'The file is empty.' }
  const isJson = format === 'json'
  const { separator } = IMPORT_FORMATS[format]
  const source = isJson ? jsonToLines(begin, isWhole) : { bytes: begin, error: undefined }
  const { documents, error } = previewRecords(
    source.bytes,
    separator === undefined ? 'ndjson' : 'csv',
    isWhole,
    ROWS,
    { separator },
  )
  if (exportHead.safeParse(documents[0]).success) return { documents, error: DATABASE_EXPORT }
  // Nothing is imported, so errors of documents do not matter.
  if (source.error !== undefined) return { documents, error: source.error }
  if (documents.length === 0 && error === undefined && !isWhole)
    return { documents, error: TOO_LONG }
  if (error?.line === undefined) return { documents, error: error?.message }
  return { documents, error: `${isJson ? 'Document' : 'Line'} ${error.line}: ${error.message}` }
}

const isSpace = (byte: number) => byte <= 0x20

/** Its lines would be stored as documents. */
const DATABASE_EXPORT = 'This is an export of a database. Import it on the Databases page.'

const TOO_LONG = 'The first document is too long for a preview.'

/** Returns the elements of JSON as lines, and why the source would be rejected as a whole. */
function jsonToLines(begin: Uint8Array, isWhole: boolean) {
  const splitter = createArraySplitter()
  let bytes = new Uint8Array()
  try {
    // The beginning of a longer source may end within a character.
    bytes = new TextEncoder().encode(splitter.write(createDecoder()(begin, isWhole)))
  } catch (error) {
    if (!(error instanceof SourceError)) throw error
    return { bytes, error: error.message }
  }
  if (splitter.isJson === false) return { bytes, error: NO_JSON }
  return { bytes, error: isWhole || splitter.hasTextAfterEnd ? errorAtEnd(splitter) : undefined }
}

function typeOf(value: unknown): string[] {
  if (value === undefined) return []
  if (value === null) return ['null']
  if (Array.isArray(value)) return ['array']
  if (typeof value === 'boolean') return ['true/false']
  return [typeof value === 'string' ? 'text' : typeof value]
}
