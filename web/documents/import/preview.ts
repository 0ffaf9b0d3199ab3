import { previewRecords } from '../../../server/contract/records/preview-records.ts'
import { createArraySplitter, NO_JSON } from './array-splitter.ts'
import type { ImportFormat } from './read-source.ts'

/** Number of documents in a preview. */
const ROWS = 5
/** Number of fields in a preview. */
const FIELDS = 12
/** Number of bytes of a file that a preview reads. */
export const PREVIEW_BYTES = 64 * 1024

type Fields = Readonly<Record<string, unknown>>

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
      types: [...new Set(documents.flatMap((each) => typeOf(each[field])))].join(', '),
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
  const isJson = format === 'json'
  const bytes = isJson ? jsonToLines(begin) : begin
  if (bytes === undefined) return { documents: [], error: NO_JSON }
  const { documents, error } = previewRecords(bytes, isJson ? 'ndjson' : format, isWhole, ROWS)
  if (documents.length === 0 && error === undefined && !isWhole)
    return { documents, error: TOO_LONG }
  if (error?.line === undefined) return { documents, error: error?.message }
  return { documents, error: `${isJson ? 'Document' : 'Line'} ${error.line}: ${error.message}` }
}

const TOO_LONG = 'The first document is too long for a preview.'

/** Returns the elements of JSON as lines; undefined if the text is neither an array nor objects. */
function jsonToLines(bytes: Uint8Array): Uint8Array | undefined {
  const splitter = createArraySplitter()
  const lines = splitter.write(new TextDecoder().decode(bytes))
  return splitter.isJson === false ? undefined : new TextEncoder().encode(lines)
}

function typeOf(value: unknown): string[] {
  if (value === undefined) return []
  if (value === null) return ['null']
  if (Array.isArray(value)) return ['array']
  if (typeof value === 'boolean') return ['true/false']
  return [typeof value === 'string' ? 'text' : typeof value]
}
