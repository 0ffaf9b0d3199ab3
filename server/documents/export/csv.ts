import { type Options, stringify } from 'csv-stringify/sync'
import { CSV_SEPARATORS } from '../../contract/import.ts'
import { invariant } from '../../contract/invariant.ts'
import { jsonPointer, OPEN_OBJECT } from '../../contract/json/json.ts'
import { type FieldPath, printFieldPath } from '../../contract/query/field-path.ts'
import { CSV_COLUMNS, SCALAR } from '../../contract/records/csv-record.ts'
import { Failure } from '../../failure.ts'
import type { ExportQuery } from '../query/query.ts'
import { endOfValue, readFields } from '../read-fields.ts'

/** Collects the names of the fields of documents, in the order in which they appear, after `id`. */
export class CsvColumns {
  readonly #names = new Set(['id'])
  #characters = 'id'.length

  /**
   * Adds the fields of a stored document. Returns the number of columns.
   *
   * @throws Failure `bad-parameter` if there are more than an import accepts.
   */
  add(body: string): number {
    readFields(body, 0, (name, _, value) => {
      if (!this.#names.has(name)) this.#add(name)
      return endOfValue(body, value)
    })
    return this.#names.size
  }

  #add(name: string): void {
    // A copy: a slice would keep the whole document in memory.
    this.#names.add(JSON.parse(JSON.stringify(name)))
    this.#characters += name.length
    if (this.#names.size > CSV_COLUMNS.names || this.#characters > CSV_COLUMNS.characters) {
      throw tooManyColumns()
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

/** The cell of a string that must be in quotes, or any other cell. */
type Cell = string | { readonly quoted: string }

/** Formats documents as CSV (RFC 4180). */
export interface CsvFormat {
  readonly header: string
  /** @param body a stored document. Only strings of it are parsed. */
  row(body: string): string
}

/**
 * Returns the format of documents with these columns. Nested values are JSON, and missing fields
 * are empty cells.
 *
 * @param columns none is part of another one.
 */
export function createCsvFormat(
  columns: readonly FieldPath[],
  { separator, rawCells }: Pick<ExportQuery, 'separator' | 'rawCells'>,
): CsvFormat {
  const options: Options = {
    delimiter: CSV_SEPARATORS[separator],
    record_delimiter: '\r\n',
    // Line breaks, and cells of spaces and tabs alone: an import would skip a line of them.
    quoted_match: /[\r\n]|^\s+$/,
    cast: {
      object: (cell) => ({ value: String(cell.quoted), quoted: true, quoted_empty: true }),
    },
  }
  const print = (cells: readonly Cell[]) => stringify([cells], options)
  const textOf = rawCells ? (text: string) => text : escapeFormula
  const cellOf = (json: string, column: number): Cell => {
    if (!json.startsWith('"')) return json
    const cell = textOf(JSON.parse(json))
    // An import reads the cell as a string with quotes, and ids without them too.
    return column > 0 && SCALAR.test(cell) ? { quoted: cell } : cell
  }
  // An import keeps an empty name, and spaces around a name, only with quotes.
  const nameOf = (path: FieldPath): Cell => {
    const cell = textOf(printFieldPath(path))
    return path.includes('') || cell !== cell.trim() ? { quoted: cell } : cell
  }
  const tree: ColumnTree = new Map()
  for (const [column, path] of columns.entries()) addColumn(tree, path, column)
  return {
    header: print(columns.map(nameOf)),
    row(body) {
      const cells = Array<Cell>(columns.length).fill('')
      readValues(body, 0, tree, (column, json) => {
        cells[column] = cellOf(json, column)
      })
      return print(cells)
    },
  }
}

/** A tree of the names of columns, with the index of each column. */
type ColumnTree = Map<string, ColumnTree | number>

/** Adds a path, which may have thousands of names. */
function addColumn(tree: ColumnTree, path: FieldPath, column: number): void {
  let current = tree
  for (const name of path.slice(0, -1)) {
    const found = current.get(name)
    invariant(typeof found !== 'number', 'no column is part of another one')
    const inner = found ?? new Map()
    current.set(name, inner)
    current = inner
  }
  current.set(path.at(-1) ?? '', column)
}

/** Calls a function with the JSON of the value of each column in an object. Returns its end. */
function readValues(
  json: string,
  begin: number,
  tree: ColumnTree,
  found: (column: number, json: string) => void,
): number {
  return readFields(json, begin, (name, _, value) => {
    const column = tree.get(name)
    if (column instanceof Map && json.charCodeAt(value) === OPEN_OBJECT) {
      return readValues(json, value, column, found)
    }
    const end = endOfValue(json, value)
    if (typeof column === 'number') found(column, json.slice(value, end))
    return end
  })
}

/**
 * Matches texts that a spreadsheet evaluates, and those that look like a neutralized text. Some
 * spreadsheets evaluate the full-width forms too, and the text after a line break.
 */
const EVALUATED = /^'*[=+\-@\t\r\n＝＋－＠]/

/** Returns a text that a spreadsheet does not evaluate. Its import removes the quote. */
const escapeFormula = (text: string) => (EVALUATED.test(text) ? `'${text}` : text)

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
