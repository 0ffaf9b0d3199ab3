import {
  EXPORT_VERSION,
  exportEnd,
  exportedCollection,
  exportHead,
} from '../../../../server/contract/transfer.ts'
import { isBinary, NO_TEXT, UNREADABLE } from '../../../shared/import/import-failure.ts'

/** Number of bytes at the beginning of a file that a preview reads. */
export const FIRST_BYTES = 1024 * 1024
/** Number of bytes at the end, which contain the last line. */
export const LAST_BYTES = 1024

/** The definition of a collection in an export. */
export interface ExportedCollection {
  readonly name: string
  readonly hasSchema: boolean
  readonly indexes: number
}

/** The contents of an export of a database, as far as its first and last bytes show them. */
export interface ExportPreview {
  /** The name of the exported database; undefined if the file is not an export. */
  readonly database: string | undefined
  /** The collections that begin within the first bytes. */
  readonly collections: readonly ExportedCollection[]
  /** The numbers that the last line states; undefined if it is missing. */
  readonly total: { readonly collections: number; readonly documents: number } | undefined
  /** Why the server would reject the file. Documents are not checked. */
  readonly error: string | undefined
}

const NOTHING = { database: undefined, collections: [], total: undefined } as const

const NO_EXPORT =
  'This is not an export of a database. To import the documents of a collection, use Import on its page.'

const INCOMPLETE =
  'The export is incomplete, because its last line is missing. Export the database again.'

/** Returns the preview of a file, or why it cannot be read. Never rejects. */
export async function readExportPreview(file: Blob): Promise<ExportPreview> {
  try {
    const [begin, end] = await Promise.all([
      file.slice(0, FIRST_BYTES).arrayBuffer(),
      file.slice(-LAST_BYTES).arrayBuffer(),
    ])
    return previewExport(new Uint8Array(begin), new Uint8Array(end), file.size <= FIRST_BYTES)
  } catch {
    return { ...NOTHING, error: UNREADABLE }
  }
}

/**
 * Returns the preview of an export.
 *
 * @param isWhole whether `begin` is the whole file. Its last line may otherwise be cut off, and is
 * omitted.
 */
export function previewExport(begin: Uint8Array, end: Uint8Array, isWhole: boolean): ExportPreview {
  if (isBinary(begin)) return { ...NOTHING, error: NO_TEXT }
  const [first = '', ...others] = linesOf(begin, !isWhole)
  if (isWhole && first === '') return { ...NOTHING, error: 'The file is empty.' }
  const head = exportHead.safeParse(parse(first))
  if (!head.success) return { ...NOTHING, error: NO_EXPORT }
  const { database, gatehouse: version } = head.data
  const last = exportEnd.safeParse(parse(linesOf(end, false).at(-1) ?? ''))
  const collections = others.flatMap(toCollection)
  const total = last.data?.end
  return { database, collections, total, error: errorOf(version, total) }
}

function errorOf(version: number, total: ExportPreview['total']): string | undefined {
  if (version !== EXPORT_VERSION)
    return `The export has version ${version} of its format. This server reads version ${EXPORT_VERSION}.`
  return total === undefined ? INCOMPLETE : undefined
}

/** Returns the lines that are not blank. */
function linesOf(bytes: Uint8Array, isCutOff: boolean): string[] {
  const lines = new TextDecoder().decode(bytes).split('\n')
  return (isCutOff ? lines.slice(0, -1) : lines).filter((line) => line.trim() !== '')
}

/** Returns the definition of a collection in a line; nothing for a document. */
function toCollection(line: string): ExportedCollection[] {
  if (!DEFINITION.test(line)) return []
  const { data } = exportedCollection.safeParse(parse(line))
  if (data === undefined) return []
  const { collection: name, schema, indexes } = data
  return [{ name, hasSchema: schema !== null, indexes: indexes.length }]
}

/** Matches the beginning of a line that defines a collection. Other lines are not parsed. */
const DEFINITION = /^\s*\{\s*"collection"\s*:/

function parse(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
