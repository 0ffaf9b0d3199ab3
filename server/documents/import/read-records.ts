import { type Parser, parse } from 'csv-parse'
import { nextTurn } from '../../concurrency/turns.ts'
import { CsvReader, PROLOGUE_BYTES } from '../../contract/records/csv-reader.ts'
import type {
  CsvOptions,
  ImportFormat,
  ImportRecord,
} from '../../contract/records/import-record.ts'
import { LineReader } from '../../contract/records/line-reader.ts'

/**
 * Maximum number of records of a part, and of their bytes as JSON after which it ends. Parsing a part
 * takes a few milliseconds.
 */
const PART = { records: 250, bytes: 256 * 1024 } as const

/** Number of bytes of JSON that take as long to parse as a cell of CSV. */
const CELL_BYTES = 64

/** Maximum number of bytes of NDJSON that are split at once. */
const PIECE_BYTES = 4 * 1024

export interface ReadOptions extends CsvOptions {
  /** Maximum size of a line of NDJSON. Default: that of a document. */
  readonly lineBytes?: number
}

/**
 * Reads the records of an import as its bytes arrive: NDJSON, or CSV with a header. An error in a
 * record does not end the import, except if the end of the record cannot be found. A part can be
 * empty, so that the caller can yield to other work.
 *
 * @param chunks closed if they are not read to their end.
 * @throws Failure `invalid` if the header of a CSV file cannot be used
 */
export async function* readRecords(
  chunks: AsyncIterable<Uint8Array>,
  format: ImportFormat,
  { lineBytes, ...options }: ReadOptions = {},
): AsyncGenerator<readonly ImportRecord[]> {
  const pieces =
    format === 'csv'
      ? readCsv(chunks, new CsvReader(options))
      : readLines(chunks, new LineReader(lineBytes))
  let part: ImportRecord[] = []
  let bytes = 0
  for await (const { records, cells } of pieces) {
    let length = 0
    for (const record of records) {
      part.push(record)
      if ('text' in record) length += record.text.length
    }
    bytes += Math.max(length, cells * CELL_BYTES)
    for (; part.length >= PART.records; bytes = 0) yield part.splice(0, PART.records)
    if (bytes < PART.bytes) continue
    yield part
    part = []
    bytes = 0
  }
  if (part.length > 0) yield part
}

/** The records of a piece of a body, and the number of cells of CSV that were parsed. */
interface Piece {
  readonly records: readonly ImportRecord[]
  readonly cells: number
}

async function* readLines(
  chunks: AsyncIterable<Uint8Array>,
  reader: LineReader,
): AsyncGenerator<Piece> {
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; at += PIECE_BYTES) {
      yield { records: reader.push(chunk.subarray(at, at + PIECE_BYTES)), cells: 0 }
    }
  }
  yield { records: reader.end(), cells: 0 }
}

async function* readCsv(
  chunks: AsyncIterable<Uint8Array>,
  reader: CsvReader,
): AsyncGenerator<Piece> {
  let parser: Parser | undefined
  try {
    for await (const chunk of withPrologue(chunks)) {
      let rest = parser === undefined ? reader.skipPrologue(chunk) : chunk
      parser ??= parse(reader.options).on('error', () => {})
      while (rest.length > 0) {
        const piece = rest.subarray(0, reader.pieceBytes)
        rest = rest.subarray(piece.length)
        const error = await settled((done) => parser?.write(piece, done))
        yield reader.take(error)
        if (error) return
      }
    }
    yield reader.take(await settled((done) => parser?.end(done)))
  } finally {
    parser?.destroy()
  }
}

const settled = (act: (done: (error?: Error | null) => void) => void) =>
  new Promise<Error | null | undefined>(act)

/** Yields the chunks of a body. The first one has the whole prologue. */
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

/**
 * Yields the parts of an import, at most one part of all imports in a turn of the event loop, so
 * that other requests run between them. Omits empty parts, which blank lines cause.
 */
export async function* pacedRecords(
  parts: AsyncIterable<readonly ImportRecord[]>,
): AsyncGenerator<readonly ImportRecord[], void> {
  for await (const part of parts) {
    await nextTurn()
    if (part.length > 0) yield part
  }
}
