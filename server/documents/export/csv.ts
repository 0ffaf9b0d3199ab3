import { CSV_SEPARATORS, type CsvSeparator } from '../../contract/import.ts'
import type { Json } from '../../contract/json/json.ts'
import { jsonPointer } from '../../contract/json/json-pointer.ts'
import { type FieldPath, printFieldPath, valueAt } from '../../contract/query/field-path.ts'
import { CSV_COLUMNS } from '../../contract/records/csv-record.ts'
import { Failure } from '../../failure.ts'

/** Collects the names of the fields of documents, in the order in which they appear, after `id`. */
export class CsvColumns {
  readonly #names = new Set(['id'])
  #characters = 'id'.length

  /** @throws Failure `bad-parameter` if there are more than an import accepts. */
  add(document: Json): void {
    for (const name of Object.keys(document as object)) {
      if (this.#names.has(name)) continue
      this.#names.add(name)
      this.#characters += name.length
      if (this.#names.size > CSV_COLUMNS.names || this.#characters > CSV_COLUMNS.characters) {
        throw tooManyColumns()
      }
    }
  }

  get paths(): FieldPath[] {
    return [...this.#names].map((name) => [name])
  }
}

/**
 * Returns the columns of selected fields, each once, `id` first.
 *
 * @throws Failure `bad-parameter` for a field that is part of another one. An import could not tell
 * which of their columns applies.
 */
export function columnsOf(fields: readonly FieldPath[]): FieldPath[] {
  const columns = new Map([['/id', ['id'] as FieldPath]])
  for (const path of fields) columns.set(jsonPointer(path), path)
  for (const path of columns.values()) {
    for (let length = 1; length < path.length; length++) {
      if (columns.has(jsonPointer(path.slice(0, length)))) throw partOfAnother(path)
    }
  }
  return [...columns.values()]
}

/** Formats documents as CSV (RFC 4180). */
export interface CsvFormat {
  readonly header: string
  row(document: Json): string
}

/**
 * Returns the format of documents with these columns. Nested values are JSON, and missing fields
 * are empty cells.
 *
 * @param isRaw whether cells that a spreadsheet would evaluate stay unchanged.
 */
export function createCsvFormat(
  columns: readonly FieldPath[],
  separator: CsvSeparator,
  isRaw: boolean,
): CsvFormat {
  const character = CSV_SEPARATORS[separator]
  const quoteCell = (text: string) =>
    QUOTED[separator].test(text) ? `"${text.replaceAll('"', '""')}"` : text
  const textOf = isRaw ? quoteCell : (text: string) => quoteCell(escapeFormula(text))
  const cellOf = (value: Json | undefined): string => {
    if (value === undefined) return ''
    if (typeof value === 'string') return textOf(value)
    return typeof value === 'object' ? quoteCell(JSON.stringify(value)) : String(value)
  }
  // An import accepts an empty name only with quotes.
  const nameOf = (path: FieldPath): string => {
    const cell = textOf(printFieldPath(path))
    return path.includes('') && !cell.startsWith('"') ? `"${cell}"` : cell
  }
  return {
    header: `${columns.map(nameOf).join(character)}\r\n`,
    row: (document) =>
      `${columns.map((path) => cellOf(valueAt(document, path))).join(character)}\r\n`,
  }
}

/**
 * Matches texts that a spreadsheet evaluates, and those that look like a neutralized text. Some
 * spreadsheets evaluate the full-width forms too, and the text after a line break.
 */
const EVALUATED = /^'*[=+\-@\t\r\n＝＋－＠]/

/** Returns a text that a spreadsheet does not evaluate. Its import removes the quote. */
const escapeFormula = (text: string) => (EVALUATED.test(text) ? `'${text}` : text)

/** Matches texts that need quotes. An import would skip a line that consists of spaces and tabs. */
const QUOTED: Readonly<Record<CsvSeparator, RegExp>> = {
  comma: /[",\r\n]/,
  semicolon: /[";\r\n]/,
  tab: /["\t\r\n]|^\s+$/,
}

const partOfAnother = (path: FieldPath) =>
  new Failure(
    'bad-parameter',
    `${JSON.stringify(printFieldPath(path).slice(0, 64))} is part of another field. ` +
      'Select only one of them for CSV.',
    { field: 'fields' },
  )

const tooManyColumns = () =>
  new Failure(
    'bad-parameter',
    `The documents have more than ${CSV_COLUMNS.names.toLocaleString('en')} different fields, or very long names. ` +
      'Select columns with fields.',
    { field: 'fields' },
  )
