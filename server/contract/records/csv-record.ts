import { Failure } from '../../failure.ts'
import { DOCUMENT_BYTES, documentTooLarge } from '../document.ts'
import type { CsvTypes } from '../import.ts'
import { type Json, jsonPointer } from '../json/json.ts'
import { DEPTH, requireJsonLimits } from '../json/json-limits.ts'
import { parseStrictly, printJson } from '../json/strict-json.ts'
import { type FieldPath, parseFilterName, printFieldPath } from '../query/field-path.ts'

/**
 * Maximum number of columns of a file, and of characters in the names of their fields. `levels`
 * counts the names themselves: 2 for the nested field `author.name`.
 */
export const CSV_COLUMNS = { names: 1_000, characters: 64 * 1024, levels: 2_000 } as const

/** The fields of the columns of a CSV file, in order. */
export type CsvHeader = readonly FieldPath[]

/**
 * Parses the first record of a CSV file. A dot separates the names of nested fields. Spaces around
 * names without quotes are removed.
 *
 * @param quoted the indexes of quoted cells.
 *
 * @throws Failure `invalid` for more than {@link CSV_COLUMNS}, for lines that end with a carriage
 * return, for a name that is repeated, nested in another one, or empty without quotes, as after a
 * trailing separator, for `id` with spaces in quotes, and for a single name that contains another separator without quotes.
 */
export function parseHeader(names: readonly string[], quoted: ReadonlySet<number>): CsvHeader {
  if (names.length > CSV_COLUMNS.names) {
    throw new Failure(
      'invalid',
      `A file can have at most ${CSV_COLUMNS.names.toLocaleString('en')} columns.`,
    )
  }
  if (names.some((name, at) => name.includes('\r') && !quoted.has(at))) {
    throw new Failure('invalid', 'A line must end with LF or CRLF.')
  }
  if (names.length === 1 && /[,;\t]/.test(names[0] ?? '') && !quoted.has(0)) {
    throw new Failure(
      'invalid',
      `It has only the column ${printJson(names[0]?.slice(0, 64) ?? '')}. Choose the separator of the file ` +
        '(csv-separator), or quote the name.',
    )
  }
  const paths = names.map((name, at) =>
    quoted.has(at) ? pathOf(withoutGuard(name), true) : pathOf(withoutGuard(name.trim()), false),
  )
  requireShort(paths)
  const taken = new Set<string>()
  // Short paths first, so that a column precedes those nested in it.
  for (const path of paths.toSorted((one, other) => one.length - other.length)) {
    let pointer = ''
    for (const name of path) {
      pointer += jsonPointer([name])
      if (taken.has(pointer)) throw badName(printFieldPath(path))
    }
    taken.add(pointer)
  }
  return paths
}

/** @throws Failure `invalid` for paths with too many names or characters. */
function requireShort(paths: readonly FieldPath[]): void {
  let levels = 0
  let characters = 0
  for (const path of paths) {
    levels += path.length
    for (const name of path) characters += name.length
  }
  if (levels <= CSV_COLUMNS.levels && characters <= CSV_COLUMNS.characters) return
  throw new Failure(
    'invalid',
    `The columns can have at most ${CSV_COLUMNS.characters.toLocaleString('en')} characters of names, ` +
      `and ${CSV_COLUMNS.levels.toLocaleString('en')} names including those of nested fields.`,
  )
}

function pathOf(name: string, isQuoted: boolean): FieldPath {
  const { path, operator } = parseFilterName(name)
  if (operator !== undefined) {
    throw new Failure(
      'invalid',
      `In the column ${printJson(name.slice(0, 64))}, write \\: for a colon that is part of a name.`,
    )
  }
  const isSpacedId = name !== 'id' && name.trim() === 'id'
  if ((path.includes('') && !isQuoted) || isSpacedId || path.length > DEPTH) throw badName(name)
  return path
}

/**
 * Returns the document of a CSV record as JSON. Empty cells are omitted. With automatic types, a cell
 * with the JSON text of an array or object has that value, and so has a cell without quotes that is a
 * number, `true`, `false` or `null`. All other cells are strings, and so is the id.
 *
 * @param quoted the indexes of quoted cells.
 * @throws Failure `invalid` if the number of cells differs from the header, or the cells exceed
 * the limits of `contract/json/json-limits.ts`; `too-large`
 */
export function parseRecord(
  header: CsvHeader,
  cells: readonly string[],
  quoted: ReadonlySet<number>,
  types: CsvTypes,
): string {
  if (cells.length !== header.length) {
    const count = cells.length === 1 ? '1 cell' : `${cells.length} cells`
    throw new Failure('invalid', `The line has ${count}, but the header has ${header.length}.`)
  }
  const document = emptyObject()
  let structures = 1
  for (const [at, path] of header.entries()) {
    const cell = cells[at] as string
    if (cell === '') continue
    if (isId(path) || types === 'string') {
      setAt(document, path, withoutGuard(cell))
    } else if (isStructure(cell)) {
      // Even if it is not JSON after all, parsing it takes as long.
      structures = requireJsonLimits(cell, 0, structures)
      setAt(document, path, toValue(cell))
    } else {
      const isScalar = SCALAR.test(cell) && !quoted.has(at)
      setAt(document, path, isScalar ? toScalar(cell) : withoutGuard(cell))
    }
  }
  const text = printJson(document)
  if (text.length > DOCUMENT_BYTES) throw documentTooLarge()
  return text
}

type JsonObject = { [key: string]: Json }

/** Without a prototype, so that `__proto__` is a name like any other. */
const emptyObject = () => Object.create(null) as JsonObject

function setAt(document: JsonObject, path: FieldPath, value: Json): void {
  let object = document
  for (const [at, name] of path.entries()) {
    if (at === path.length - 1) object[name] = value
    else {
      object[name] ??= emptyObject()
      object = object[name] as JsonObject
    }
  }
}

const isId = (path: FieldPath) => path.length === 1 && path[0] === 'id'

/** Matches what may be the JSON text of a number, `true`, `false` or `null`. */
export const SCALAR = /^(?:true|false|null|-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)$/

/** Returns whether a cell may be the JSON text of an array or object. */
const isStructure = (cell: string) =>
  (cell.startsWith('[') && cell.endsWith(']')) || (cell.startsWith('{') && cell.endsWith('}'))

/** Returns the value of a cell that may be a JSON scalar. */
function toScalar(cell: string): Json {
  // Numbers that print differently may have lost digits.
  const value = /^-?0[0-9]/.test(cell) ? cell : JSON.parse(cell)
  return String(value) === cell ? value : toValue(cell)
}

/** Returns the value of a cell that may be JSON text. */
function toValue(cell: string): Json {
  try {
    return parseStrictly(cell)
  } catch {
    return cell
  }
}

/** Removes the quote that an export puts before a cell which a spreadsheet would evaluate. */
const withoutGuard = (cell: string) =>
  /^'+[=+\-@\t\r\n＝＋－＠]/.test(cell) ? cell.slice(1) : cell

const badName = (name: string) =>
  new Failure(
    'invalid',
    `The column ${printJson(name.slice(0, 64))} of the header is empty, repeated, nested in ` +
      'another column, or not the name of a field.',
  )
