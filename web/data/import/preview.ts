import { documentIdError } from '../../../server/contract/document.ts'
import type { CsvTypes, OnConflict } from '../../../server/contract/import.ts'
import type { Json } from '../../../server/contract/json/json.ts'
import {
  type FieldPath,
  printFieldPath,
  valueAt,
} from '../../../server/contract/query/field-path.ts'
import { exportHead } from '../../../server/contract/transfer.ts'
import { isBinary, NO_TEXT, SourceError } from '../../shared/import/import-failure.ts'
import { createDecoder, createLineConverter, errorAtEnd, NO_JSON } from './json-to-lines.ts'
import { previewRecords, type RecordsPreview } from './preview-records.ts'
import { IMPORT_FORMATS, type ImportFormat } from './read-source.ts'

/** Number of documents in a preview, and of those that are checked. */
const ROWS = 5
const CHECKED = 500
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
   * Why the server would reject the source, or its first documents. The schema and the ids of stored
   * documents are not checked.
   */
  readonly errors: readonly string[]
  /** Names the columns of CSV whose cells become values of several types. */
  readonly warning?: string | undefined
  /** Whether the source has no documents, not even invalid ones. */
  readonly isEmpty: boolean
}

export interface PreviewOptions {
  readonly format: ImportFormat
  /** Whether the bytes are the whole source. */
  readonly isWhole: boolean
  /** With `fail`, two documents of the source cannot have the same id. Default: `fail`. */
  readonly onConflict?: OnConflict
  /** Default: auto. */
  readonly types?: CsvTypes
}

/** Returns the first documents of a source as the server reads them. */
export function previewSource(begin: Uint8Array, options: PreviewOptions): Preview {
  const { documents, errors, isEmpty = false } = readDocuments(begin, options)
  const shown = documents.slice(0, ROWS)
  const names = [...new Set(shown.flatMap((document) => Object.keys(document)))]
  return {
    fields: names.slice(0, FIELDS).map((field) => ({
      field,
      types: [...new Set(shown.flatMap((each) => typeOf(valueAt(each, [field]))))].join(', '),
    })),
    documents: shown,
    errors,
    warning:
      IMPORT_FORMATS[options.format].separator === undefined
        ? undefined
        : warnOfMixedTypes(documents),
    isEmpty,
  }
}

/** Names the columns whose values have several types; undefined if there are none. */
function warnOfMixedTypes(documents: readonly Fields[]): string | undefined {
  const columns = new Map<string, Set<string>>()
  const add = (value: Json, path: FieldPath) => {
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      for (const [name, inner] of Object.entries(value)) add(inner, [...path, name])
    } else if (value !== null) {
      const column = printFieldPath(path)
      columns.set(column, new Set([...(columns.get(column) ?? []), ...typeOf(value)]))
    }
  }
  for (const document of documents) add(document, [])
  const mixed = [...columns].filter(([, types]) => types.size > 1)
  if (mixed.length === 0) return undefined
  const named = mixed.slice(0, FIELDS).map(([name, types]) => `${name} (${[...types].join(', ')})`)
  return (
    `Columns with mixed types: ${named.join('; ')}. ` +
    'To keep codes such as 12E4 as text, choose Text only, or put the cells in quotes.'
  )
}

interface Read {
  readonly documents: readonly Fields[]
  readonly errors: readonly string[]
  readonly isEmpty?: boolean
}

function readDocuments(
  begin: Uint8Array,
  { format, isWhole, onConflict = 'fail', types = 'auto' }: PreviewOptions,
): Read {
  if (isBinary(begin)) return { documents: [], errors: [NO_TEXT] }
  if (isWhole && begin.every(isSpace)) return NO_DOCUMENTS
  const isJson = format === 'json'
  const { separator } = IMPORT_FORMATS[format]
  const source = isJson ? jsonToLines(begin, isWhole) : { bytes: begin, error: undefined }
  const { records, errors } = previewRecords(
    source.bytes,
    separator === undefined ? 'ndjson' : 'csv',
    isWhole,
    CHECKED,
    { separator, types },
  )
  const documents = records.map(({ document }) => document)
  if (exportHead.safeParse(documents[0]).success) return { documents, errors: [DATABASE_EXPORT] }
  // Nothing is imported, so errors of documents do not matter.
  if (source.error !== undefined) return { documents, errors: [source.error] }
  const isNone = documents.length === 0 && errors.length === 0
  if (isNone && !isWhole) return { documents, errors: [TOO_LONG] }
  if (isNone) return separator === undefined ? NO_DOCUMENTS : NO_LINES
  const unit = isJson ? 'Document' : 'Line'
  const found = [...errors, ...errorsOfIds(records, unit, onConflict)]
  return {
    documents,
    errors: found
      .sort((one, other) => (one.line ?? 0) - (other.line ?? 0))
      .map(({ line, message }) => (line === undefined ? message : `${unit} ${line}: ${message}`)),
  }
}

/** Returns why the server would reject the ids of documents. */
function errorsOfIds(
  records: RecordsPreview['records'],
  unit: string,
  onConflict: OnConflict,
): RecordsPreview['errors'] {
  const lineOf = new Map<Json, number>()
  return records.flatMap(({ line, document }) => {
    const id = valueAt(document, ['id'])
    if (id === undefined) return []
    const error = documentIdError(id)
    if (error !== undefined) return [{ line, message: error }]
    const first = lineOf.get(id)
    if (first === undefined) lineOf.set(id, line)
    if (first === undefined || onConflict !== 'fail') return []
    return [
      {
        line,
        message: `The id ${JSON.stringify(id)} is already in ${unit.toLowerCase()} ${first}.`,
      },
    ]
  })
}

/** The preview of a source without documents. */
const NO_DOCUMENTS: Read = { documents: [], errors: ['No documents found.'], isEmpty: true }

/** The preview of CSV that has only a header, such as a text that is not CSV. */
const NO_LINES: Read = {
  ...NO_DOCUMENTS,
  errors: ['No documents found. The first line of CSV names the fields.'],
}

const isSpace = (byte: number) => byte <= 0x20

/** Its lines would be stored as documents. */
const DATABASE_EXPORT = 'This is an export of a database. Import it on the page of a database.'

const TOO_LONG = 'The first document is too long for a preview.'

/** Returns the elements of JSON as lines, and why the source would be rejected as a whole. */
function jsonToLines(begin: Uint8Array, isWhole: boolean) {
  const converter = createLineConverter()
  let bytes = new Uint8Array()
  try {
    // The beginning of a longer source may end within a character.
    bytes = new TextEncoder().encode(converter.write(createDecoder()(begin, isWhole)))
  } catch (error) {
    if (!(error instanceof SourceError)) throw error
    return { bytes, error: error.message }
  }
  if (converter.isJson === false) return { bytes, error: NO_JSON }
  return { bytes, error: isWhole || converter.hasTextAfterEnd ? errorAtEnd(converter) : undefined }
}

function typeOf(value: unknown): string[] {
  if (value === undefined) return []
  if (value === null) return ['null']
  if (Array.isArray(value)) return ['array']
  if (typeof value === 'boolean') return ['true/false']
  return [typeof value === 'string' ? 'text' : typeof value]
}
