import { Failure } from '../../failure.ts'
import { documentTooLarge } from '../document-too-large.ts'
import { CSV_SEPARATORS, type CsvSeparator, type CsvTypes } from '../import.ts'
import { type CsvHeader, parseHeader, parseRecord } from './csv-record.ts'
import {
  CsvSplitter,
  LineSplitter,
  type RawRecord,
  type RecordSplitter,
} from './record-splitter.ts'

export type ImportFormat = 'ndjson' | 'csv'

/** A document of an import as JSON, or why it cannot be read. */
export type ImportRecord =
  | { readonly line: number; readonly text: string }
  | { readonly line: number; readonly failure: Failure }

interface Parser {
  /** Whether a record that is too large ends the import, because its end may never come. */
  readonly endsIfTooLarge: boolean
  /** Whether the next record is a header. Without one, no record can be read. */
  readonly needsHeader: boolean
  /** Returns whether a record is a blank line. */
  isBlank(record: string): boolean
  /** Returns the JSON text of a record; undefined for a header. */
  parse(record: string): string | undefined
}

const JSON_PARSER: Parser = {
  endsIfTooLarge: false,
  needsHeader: false,
  isBlank: (record) => record.trim() === '',
  // A line is parsed where it is validated.
  parse: (record) => record,
}

/**
 * Maximum number of records that are read for a part, and of their bytes. A record of CSV counts as
 * its JSON if that is longer: the names of the columns can make it much longer. Parsing a part takes
 * a few milliseconds.
 */
const BATCH = { records: 250, bytes: 256 * 1024 } as const

/** Number of bytes of JSON that take as long to parse as a cell of CSV. */
const CELL_BYTES = 64

/** Maximum number of bytes that are split in one step. */
const CHUNK_BYTES = 16 * 1024

/** Splits the bytes of an import into records and parses each. */
export interface RecordReader {
  readonly splitter: RecordSplitter
  /** Number of cells of a record; 0 for NDJSON, and before the header of CSV. */
  readonly columns: () => number
  /**
   * Returns a record in the order of the splitter; undefined for a header and for blank lines.
   *
   * @throws Failure `invalid` if the header of a CSV file cannot be used; `too-large` for a record of
   * CSV that is too large.
   */
  readonly read: (raw: RawRecord) => ImportRecord | undefined
}

export interface ReadOptions {
  /** Default: comma. The first line of a file may name another one. */
  readonly separator?: CsvSeparator
  /** Default: auto. */
  readonly types?: CsvTypes
  /** Maximum size of a line of NDJSON. Default: that of a document. */
  readonly lineBytes?: number
}

/** Returns a reader of NDJSON, or of CSV with a header. */
export function createRecordReader(
  format: ImportFormat,
  { separator: name = 'comma', types = 'auto', lineBytes }: ReadOptions = {},
): RecordReader {
  if (format === 'ndjson') {
    const read: RecordReader['read'] = (raw) => toRecord(raw, JSON_PARSER)
    return { splitter: new LineSplitter(lineBytes), columns: () => 0, read }
  }
  const splitter = new CsvSplitter(CSV_SEPARATORS[name])
  const parser = new CsvParser(splitter, types)
  return { splitter, columns: () => parser.columns, read: (raw) => toRecord(raw, parser) }
}

/**
 * Reads the records of an import as its bytes arrive. An error in a record does not end the import. A
 * part is empty if its lines are blank, so that the caller can yield to other work.
 *
 * @param chunks closed if they are not read to their end.
 * @throws Failure `invalid` if the header of a CSV file cannot be used; `too-large` for a record of
 * CSV that is too large, before the rest of it arrives.
 */
export async function* readRecords(
  chunks: AsyncIterable<Uint8Array>,
  format: ImportFormat,
  options?: ReadOptions,
): AsyncGenerator<readonly ImportRecord[]> {
  const { splitter, columns, read } = createRecordReader(format, options)
  let part: ImportRecord[] = []
  let count = 0
  let bytes = 0
  function* add(records: readonly RawRecord[]) {
    for (const raw of records) {
      const record = read(raw)
      if (record !== undefined) part.push(record)
      count++
      bytes += Math.max(raw.bytes?.length ?? 0, lengthOf(record), columns() * CELL_BYTES)
      if (count < BATCH.records && bytes < BATCH.bytes) continue
      yield part
      part = []
      count = 0
      bytes = 0
    }
  }
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; at += CHUNK_BYTES) {
      yield* add(splitter.push(chunk.subarray(at, at + CHUNK_BYTES)))
    }
  }
  yield* add(splitter.end())
  if (part.length > 0) yield part
}

const lengthOf = (record: ImportRecord | undefined): number =>
  record !== undefined && 'text' in record ? record.text.length : 0

function toRecord({ line, bytes }: RawRecord, parser: Parser): ImportRecord | undefined {
  try {
    if (bytes === undefined) throw documentTooLarge()
    const record = withoutReturn(decode(bytes))
    if (parser.isBlank(record)) return undefined
    const text = parser.parse(record)
    return text === undefined ? undefined : { line, text }
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    if (parser.needsHeader) {
      throw new Failure('invalid', `The header is invalid. ${error.message}`)
    }
    if (bytes === undefined && parser.endsIfTooLarge) {
      const hint = 'Check whether a quote is not closed.'
      throw error.with({ message: `Line ${line}: ${error.message} ${hint}` })
    }
    return { line, failure: error }
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch (cause) {
    throw new Failure('bad-json', 'The line is not UTF-8. Save the file as UTF-8.', { cause })
  }
}

const withoutReturn = (text: string) => (text.endsWith('\r') ? text.slice(0, -1) : text)

/** Takes the first record as the header of the others. */
class CsvParser implements Parser {
  readonly endsIfTooLarge = true
  readonly #types: CsvTypes
  readonly #splitter: Pick<CsvSplitter, 'separator'>
  #header: CsvHeader | undefined

  /** @param splitter the source of the records. */
  constructor(splitter: Pick<CsvSplitter, 'separator'>, types: CsvTypes) {
    this.#splitter = splitter
    this.#types = types
  }

  get columns(): number {
    return this.#header?.length ?? 0
  }

  get needsHeader(): boolean {
    return this.#header === undefined
  }

  /** In a file with one column, a line of spaces is a value. */
  isBlank(record: string): boolean {
    return record === '' || (this.#header?.length !== 1 && record.trim() === '')
  }

  parse(record: string): string | undefined {
    const { separator } = this.#splitter
    if (this.#header !== undefined) {
      return parseRecord(this.#header, record, separator, this.#types)
    }
    this.#header = parseHeader(record, separator)
    return undefined
  }
}
