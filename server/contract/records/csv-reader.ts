import { Failure } from '../../failure.ts'
import { DOCUMENT_BYTES, documentTooLarge } from '../document.ts'
import { CSV_SEPARATORS, type CsvTypes } from '../import.ts'
import { CSV_COLUMNS, type CsvHeader, parseHeader, parseRecord } from './csv-record.ts'
import { type CsvOptions, decodeText, type ImportRecord } from './import-record.ts'

/** What `csv-parse` says about a cell. */
interface CellContext {
  /** Number of empty lines so far. */
  readonly empty_lines: number
  readonly index: number
  readonly quoting: boolean
}

/** Maximum number of cells of a record. Separators do not count for `max_record_size`. */
const CELLS = 65_536

/** Maximum number of bytes to parse at once: they may be as many cells. */
const PIECE_BYTES = 4 * 1024

/** Maximum size of a byte order mark and a line that names the separator, as Excel reads it. */
export const PROLOGUE_BYTES = 10

const PROLOGUE = /^(?:ï»¿)?(?:sep=([,;\t])\r?\n)?/i

const LINE_FEED = 0x0a

/** Reads the documents of CSV (RFC 4180) from the records that `csv-parse` finds. */
export class CsvReader {
  #separator: string
  readonly #types: CsvTypes
  #header: CsvHeader | undefined
  #records: ImportRecord[] = []
  #cells = 0
  /** The line after the last record, without the empty ones before it. */
  #nextLine = 1
  #emptyLines = 0
  // Of the record that is being read: the indexes of quoted cells, the line breaks within them, and
  // why a cell cannot be decoded.
  readonly #quoted = new Set<number>()
  #lineBreaks = 0
  #failure: Failure | undefined
  #pieceBytes = 64

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
      cast: (bytes: unknown, context: CellContext) => this.#decode(bytes as Uint8Array, context),
      on_record: (cells: string[], context: Pick<CellContext, 'empty_lines'>) => {
        this.#add(cells, this.#nextLine + context.empty_lines)
        return null
      },
    }
  }

  /** Maximum number of bytes to parse at once. The names of columns can make documents much larger. */
  get pieceBytes(): number {
    return this.#pieceBytes
  }

  /**
   * Returns the documents since the last call, and why `csv-parse` stopped. `cells` is the number of
   * cells that it has read.
   *
   * @throws Failure `invalid` if the header cannot be used
   */
  take(error?: Error | null): {
    readonly records: readonly ImportRecord[]
    readonly cells: number
  } {
    const [records, cells] = [this.#records, this.#cells]
    this.#records = []
    this.#cells = 0
    if (error) {
      const failure = error instanceof Failure ? error : explain(error)
      if (this.#header === undefined) {
        throw new Failure('invalid', `The header is invalid. ${failure.message}`)
      }
      const { empty_lines = this.#emptyLines } = error as Partial<CellContext>
      records.push({ line: this.#nextLine + empty_lines, failure })
    }
    return { records, cells }
  }

  #decode(bytes: Uint8Array, { empty_lines, index, quoting }: CellContext): string {
    this.#cells++
    this.#emptyLines = empty_lines
    if (index >= CELLS) throw recordTooLarge()
    if (quoting) {
      this.#quoted.add(index)
      for (const byte of bytes) if (byte === LINE_FEED) this.#lineBreaks++
    }
    try {
      return bytes.length === 0 ? '' : decodeText(bytes)
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      this.#failure = error
      return ''
    }
  }

  /** @throws Failure `invalid` if the header cannot be used */
  #add(cells: readonly string[], line: number): void {
    try {
      if (this.#failure !== undefined) throw this.#failure
      if (this.#isBlank(cells)) return
      if (this.#header === undefined) {
        this.#header = parseHeader(cells, this.#quoted)
        const ratio = CSV_COLUMNS.characters / cells.join('').length
        this.#pieceBytes = Math.min(PIECE_BYTES, Math.ceil(this.#pieceBytes * ratio))
      } else {
        const text = parseRecord(this.#header, cells, this.#quoted, this.#types)
        this.#records.push({ line, text })
      }
    } catch (error) {
      if (!(error instanceof Failure) || this.#header === undefined) throw error
      this.#records.push({ line, failure: error })
    } finally {
      this.#nextLine += 1 + this.#lineBreaks
      this.#quoted.clear()
      this.#lineBreaks = 0
      this.#failure = undefined
    }
  }

  /** In a file with one column, a line of spaces is a value. */
  #isBlank(cells: readonly string[]): boolean {
    if (this.#header?.length === 1 || this.#quoted.size > 0 || cells[0]?.trim() !== '') return false
    return cells.join(this.#separator).trim() === ''
  }
}

const ENDS = 'The import ends at this line.'

const recordTooLarge = () =>
  new Failure(
    'too-large',
    `${documentTooLarge().message} Check whether a quote is not closed. ${ENDS}`,
  )

/** Returns why `csv-parse` stopped. */
function explain({ code }: NodeJS.ErrnoException): Failure {
  if (code === 'CSV_MAX_RECORD_SIZE') return recordTooLarge()
  return new Failure(
    'invalid',
    code === 'CSV_QUOTE_NOT_CLOSED'
      ? 'A quoted cell has no closing quote.'
      : `A cell that contains a quote must be quoted, and its quotes doubled. ${ENDS}`,
  )
}
