import { createArraySplitter, NO_ARRAY } from './array-splitter.ts'
import type { ImportFormat } from './read-source.ts'

/** Number of documents in a preview. */
const ROWS = 5
/** Number of fields in a preview. */
const FIELDS = 12
/** Number of characters of a source that a preview reads. */
export const PREVIEW_LENGTH = 64 * 1024

type Fields = Readonly<Record<string, unknown>>

/** The first documents of a source. */
export interface Preview {
  /** The fields, each with the types of its values in words. */
  readonly fields: readonly { readonly field: string; readonly types: string }[]
  readonly documents: readonly Fields[]
  /** Why a document cannot be read; undefined if all can. */
  readonly error: string | undefined
}

/** Returns the first documents of a source. `isWhole` is whether `text` is all of it. */
export function previewSource(text: string, format: ImportFormat, isWhole: boolean): Preview {
  const { documents, error } =
    format === 'csv' ? readCsv(text, isWhole) : readJson(text, format, isWhole)
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

function readJson(text: string, format: ImportFormat, isWhole: boolean): Read {
  const splitter = format === 'json' ? createArraySplitter() : undefined
  const lines = splitter?.write(text) ?? text.replace(/^\uFEFF/, '')
  if (splitter?.isArray === false) return { documents: [], error: NO_ARRAY }
  const parts = lines.split('\n')
  // The last part may be cut off.
  const whole = isWhole ? parts : parts.slice(0, -1)
  const documents: Fields[] = []
  for (const part of whole.filter((each) => each.trim() !== '').slice(0, ROWS)) {
    try {
      const value: unknown = JSON.parse(part)
      if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error()
      documents.push(value as Fields)
    } catch {
      const error = `Document ${documents.length + 1} is not a JSON object.`
      return { documents, error }
    }
  }
  return { documents, error: undefined }
}

function readCsv(text: string, isWhole: boolean): Read {
  const records = splitCsv(text.replace(/^\uFEFF/, ''), ROWS + 2)
  const whole = isWhole || records.length === ROWS + 2 ? records : records.slice(0, -1)
  const [header = [], ...rows] = whole
  const shown = rows.slice(0, ROWS)
  const uneven = shown.findIndex(({ length }) => length !== header.length)
  const error = header.includes('')
    ? 'The header has an empty name.'
    : uneven !== -1
      ? `Document ${uneven + 1} has ${shown[uneven]?.length} cells, but the header has ${header.length}.`
      : undefined
  return {
    documents: shown.map((row) =>
      Object.fromEntries(
        header.flatMap((field, at) => {
          const cell = row[at] ?? ''
          return cell === '' ? [] : [[field, field === 'id' ? cell : toValue(cell)]]
        }),
      ),
    ),
    error,
  }
}

/** Returns the first records of CSV (RFC 4180), each as its cells. Blank lines are ignored. */
export function splitCsv(text: string, most: number): string[][] {
  const records: string[][] = []
  let [cells, cell, isQuoted]: [string[], string, boolean] = [[], '', false]
  const endRecord = () => {
    if (cells.length > 0 || cell !== '') records.push([...cells, cell])
    cells = []
    cell = ''
  }
  for (let at = 0; at < text.length && records.length < most; at++) {
    const character = text.charAt(at)
    if (isQuoted) {
      if (character !== '"') cell += character
      else if (text.charAt(at + 1) === '"') cell += text.charAt(at++)
      else isQuoted = false
    } else if (character === '"' && cell === '') isQuoted = true
    else if (character === ',') {
      cells.push(cell)
      cell = ''
    } else if (character === '\n') endRecord()
    else if (character !== '\r') cell += character
  }
  if (records.length < most) endRecord()
  return records
}

/** Returns the value of a cell, as the server reads it. */
export function toValue(cell: string): unknown {
  if (/^'+[=+\-@\t\r]/.test(cell)) return cell.slice(1)
  try {
    const value: unknown = JSON.parse(cell)
    return typeof value === 'string' ? cell : value
  } catch {
    return cell
  }
}

function typeOf(value: unknown): string[] {
  if (value === undefined) return []
  if (value === null) return ['null']
  if (Array.isArray(value)) return ['array']
  if (typeof value === 'boolean') return ['true/false']
  return [typeof value === 'string' ? 'text' : typeof value]
}
