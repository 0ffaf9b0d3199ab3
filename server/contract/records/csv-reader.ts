import { Failure } from '../../failure.ts'
import { DOCUMENT_BYTES } from '../document.ts'
import { documentTooLarge } from '../document-too-large.ts'
import { CSV_SEPARATORS, type CsvTypes } from '../import.ts'
import { type CsvHeader, parseHeader, parseRecord } from './csv-record.ts'
import { type CsvOptions, decodeText, type ImportRecord } from './import-record.ts'

/** The cells of a record, or why the file cannot be read from there on. */
export type RawCsv =
  | {
      /** The line on which it begins, from 1. */
      readonly line: number
      readonly cells: readonly string[]
      /** The indexes of quoted cells. */
      readonly quoted: ReadonlySet<number>
      /** Why a cell cannot be decoded. */
      readonly failure: Failure | undefined
    }
  | { readonly line: number; readonly failure: Failure }

/** What `csv-parse` says about a cell or a record. */
interface Context {
  readonly empty_lines: number
  readonly index: number
  readonly quoting: boolean
}

/** Maximum number of cells of a record. Separators do not count for `max_record_size`. */
const CELLS = 65_536

/** Maximum size of a byte order mark and a line that names the separator, as Excel reads it. */
export const PROLOGUE_BYTES = 10

const PROLOGUE = /^(?:ï»¿)?(?:sep=([,;\t])\r?\n)?/i

const LF = 0x0a

const NONE: ReadonlySet<number> = new Set()

/** Reads the records of CSV (RFC 4180) that `csv-parse` finds with {@link options}. */
export class CsvReader {
  #separator: string
  readonly #types: CsvTypes
  #header: CsvHeader | undefined
  #found: RawCsv[] = []
  /** The line after the last record, without the empty ones before it. */
  #nextLine = 1
  #emptyLines = 0
  // Of the record that is being read.
  #quoted: Set<number> | undefined
  #lineBreaks = 0
  #failure: Failure | undefined

  constructor({ separator = 'comma', types = 'auto' }: CsvOptions = {}) {
    this.#separator = CSV_SEPARATORS[separator]
    this.#types = types
  }

  /**
   * Returns what `csv-parse` must read of the beginning of a file.
   *
   * @param begin at least {@link PROLOGUE_BYTES}, or the whole file.
   */
  skipPrologue(begin: Uint8Array): Uint8Array {
    const text = new TextDecoder('latin1').decode(begin.subarray(0, PROLOGUE_BYTES))
    const [all = '', separator] = PROLOGUE.exec(text) ?? []
    if (separator !== undefined) {
      this.#separator = separator
      this.#nextLine++
    }
    return begin.subarray(all.length)
  }

  /** The options of `csv-parse`, which emits nothing: {@link take} returns the records. */
  get options() {
    return {
      delimiter: this.#separator,
      record_delimiter: ['\r\n', '\n'],
      relax_column_count: true,
      skip_empty_lines: true,
      max_record_size: DOCUMENT_BYTES,
      // Cells as bytes, because it decodes bytes that are not UTF-8 without an error.
      encoding: null,
      cast: (bytes: unknown, context: Context) => this.#decode(bytes as Uint8Array, context),
      on_record: (cells: string[], { empty_lines }: Pick<Context, 'empty_lines'>) => {
        this.#add(cells, empty_lines)
        return null
      },
    }
  }

  /** Number of columns; 0 before the header. */
  get columns(): number {
    return this.#header?.length ?? 0
  }

  /** Returns the records since the last call. @param error what `csv-parse` threw, if it did. */
  take(error?: Error | null): readonly RawCsv[] {
    const found = this.#found
    this.#found = []
    if (error) {
      const { empty_lines = this.#emptyLines } = error as Partial<Context>
      found.push({ line: this.#nextLine + empty_lines, failure: explain(error) })
    }
    return found
  }

  /**
   * Returns a record in the order of the file; undefined for the header and for blank lines.
   *
   * @throws Failure `invalid` if the header cannot be used
   */
  read(raw: RawCsv): ImportRecord | undefined {
    const { line, failure } = raw
    try {
      if (failure !== undefined) throw failure
      if (!('cells' in raw) || this.#isBlank(raw)) return undefined
      const { cells, quoted } = raw
      if (this.#header !== undefined) {
        return { line, text: parseRecord(this.#header, cells, quoted, this.#types) }
      }
      this.#header = parseHeader(cells, quoted)
      return undefined
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      if (this.#header !== undefined) return { line, failure: error }
      throw new Failure('invalid', `The header is invalid. ${error.message}`)
    }
  }

  /** In a file with one column, a line of spaces is a value. */
  #isBlank({
    cells,
    quoted,
  }: {
    readonly cells: readonly string[]
    readonly quoted: ReadonlySet<number>
  }) {
    if (this.#header?.length === 1 || quoted.size > 0 || cells[0]?.trim() !== '') return false
    return cells.join(this.#separator).trim() === ''
  }

  #decode(bytes: Uint8Array, { empty_lines, index, quoting }: Context): string {
    this.#emptyLines = empty_lines
    if (index >= CELLS) throw documentTooLarge()
    if (quoting) {
      this.#quoted ??= new Set()
      this.#quoted.add(index)
      for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, at + 1)) this.#lineBreaks++
    }
    if (bytes.length === 0) return ''
    try {
      return decodeText(bytes)
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      this.#failure = error
      return ''
    }
  }

  #add(cells: readonly string[], emptyLines: number): void {
    const line = this.#nextLine + emptyLines
    this.#found.push({ line, cells, quoted: this.#quoted ?? NONE, failure: this.#failure })
    this.#nextLine += 1 + this.#lineBreaks
    this.#quoted = undefined
    this.#lineBreaks = 0
    this.#failure = undefined
  }
}

/** Returns the error of the line at which `csv-parse` stopped. */
function explain(error: Error): Failure {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'CSV_MAX_RECORD_SIZE' || error instanceof Failure) {
    const { message } = documentTooLarge()
    return new Failure('too-large', `${message} Check whether a quote is not closed. ${ENDS}`)
  }
  return new Failure(
    'invalid',
    code === 'CSV_QUOTE_NOT_CLOSED'
      ? 'A quoted cell has no closing quote.'
      : `A cell that contains a quote must be quoted, and its quotes doubled. ${ENDS}`,
  )
}

const ENDS = 'The import ends at this line.'
