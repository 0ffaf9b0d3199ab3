import { type Parser, parse } from 'csv-parse'
import { CsvReader, PROLOGUE_BYTES, type RawCsv } from '../../contract/records/csv-reader.ts'
import type {
  CsvOptions,
  ImportFormat,
  ImportRecord,
} from '../../contract/records/import-record.ts'
import { LineReader, type RawLine } from '../../contract/records/line-reader.ts'

/**
 * Maximum number of records that are read for a part, and of their bytes. A record of CSV counts as
 * its JSON if that is longer: the names of the columns can make it much longer. Parsing a part takes
 * a few milliseconds.
 */
const BATCH = { records: 250, bytes: 256 * 1024 } as const

/** Number of bytes of JSON that take as long to parse as a cell of CSV. */
const CELL_BYTES = 64

/** Maximum number of bytes that are split in one step. Those of CSV may be as many cells. */
const CHUNK_BYTES = { ndjson: 16 * 1024, csv: 4 * 1024 } as const

export interface ReadOptions extends CsvOptions {
  /** Maximum size of a line of NDJSON. Default: that of a document. */
  readonly lineBytes?: number
}

/**
 * Reads the records of an import as its bytes arrive: NDJSON, or CSV with a header. An error in a
 * record does not end the import, except after one of CSV whose end cannot be found. A part is empty
 * if a piece of CSV contains no record, so that the caller can yield to other work.
 *
 * @param chunks closed if they are not read to their end.
 * @throws Failure `invalid` if the header of a CSV file cannot be used
 */
export async function* readRecords(
  chunks: AsyncIterable<Uint8Array>,
  format: ImportFormat,
  { lineBytes, ...options }: ReadOptions = {},
): AsyncGenerator<readonly ImportRecord[]> {
  if (format === 'csv') {
    const reader = new CsvReader(options)
    const read = (raw: RawCsv) => reader.read(raw)
    yield* batched(splitCsv(chunks, reader), read, () => reader.columns * CELL_BYTES)
  } else {
    const reader = new LineReader(lineBytes)
    const read = (raw: RawLine) => reader.read(raw)
    yield* batched(splitLines(chunks, reader), read, ({ bytes }) => bytes?.length ?? 0)
  }
}

async function* batched<Raw>(
  splitting: AsyncIterable<readonly Raw[]>,
  read: (raw: Raw) => ImportRecord | undefined,
  bytesOf: (raw: Raw) => number,
): AsyncGenerator<readonly ImportRecord[]> {
  let part: ImportRecord[] = []
  let count = 0
  let bytes = 0
  for await (const found of splitting) {
    if (found.length === 0) yield []
    for (const raw of found) {
      const record = read(raw)
      if (record !== undefined) part.push(record)
      count++
      bytes += Math.max(
        bytesOf(raw),
        record !== undefined && 'text' in record ? record.text.length : 0,
      )
      if (count < BATCH.records && bytes < BATCH.bytes) continue
      yield part
      part = []
      count = 0
      bytes = 0
    }
  }
  if (part.length > 0) yield part
}

async function* splitLines(
  chunks: AsyncIterable<Uint8Array>,
  reader: LineReader,
): AsyncGenerator<readonly RawLine[]> {
  for await (const piece of piecesOf(chunks, CHUNK_BYTES.ndjson)) {
    const found = reader.push(piece)
    if (found.length > 0) yield found
  }
  const last = reader.end()
  if (last.length > 0) yield last
}

async function* splitCsv(
  chunks: AsyncIterable<Uint8Array>,
  reader: CsvReader,
): AsyncGenerator<readonly RawCsv[]> {
  let parser: Parser | undefined
  try {
    for await (const piece of piecesOf(withPrologue(chunks), CHUNK_BYTES.csv)) {
      const bytes = parser === undefined ? reader.skipPrologue(piece) : piece
      parser ??= parse(reader.options).on('error', () => {})
      const error = await write(parser, bytes)
      yield reader.take(error)
      if (error) return
    }
    if (parser !== undefined) yield reader.take(await end(parser))
  } finally {
    parser?.destroy()
  }
}

const write = (parser: Parser, bytes: Uint8Array) =>
  new Promise<Error | null | undefined>((resolve) => parser.write(bytes, resolve))

const end = (parser: Parser) =>
  new Promise<Error | null | undefined>((resolve) => parser.end(resolve))

/** Yields the chunks of a body, of which the first has the whole prologue. */
async function* withPrologue(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let begin: Uint8Array | undefined = new Uint8Array()
  for await (const chunk of chunks) {
    if (begin === undefined) yield chunk
    else {
      begin = Buffer.concat([begin, chunk])
      if (begin.length < PROLOGUE_BYTES) continue
      yield begin
      begin = undefined
    }
  }
  if (begin !== undefined) yield begin
}

async function* piecesOf(
  chunks: AsyncIterable<Uint8Array>,
  bytes: number,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; at += bytes) yield chunk.subarray(at, at + bytes)
  }
}
