import { Failure } from '../../failure.ts'
import { DOCUMENT_BYTES, documentTooLarge } from '../document.ts'
import { decodeText, type ImportRecord } from './import-record.ts'

const NOTHING = new Uint8Array()

/** Size of the buffer for a line in several chunks, bytes. It is doubled when it is full. */
const BUFFER = 1024

/** Collects a line from several chunks. */
class LineBuffer {
  readonly #maxBytes: number
  /** Begins with the bytes so far. A line in one chunk is not copied. */
  #buffer: Uint8Array = NOTHING
  #bytes = 0

  /** @param maxBytes maximum size of a line, bytes. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get isEmpty(): boolean {
    return this.#bytes === 0
  }

  get isTooLarge(): boolean {
    return this.#bytes > this.#maxBytes
  }

  /** Drops the line once it is too large; only its length is counted from then on. */
  add(part: Uint8Array): void {
    const before = this.#bytes
    this.#bytes += part.length
    if (this.isTooLarge) this.#buffer = NOTHING
    else if (before === 0) this.#buffer = part
    else if (part.length > 0) this.#copy(part, before)
  }

  /** Copies a small part, so that it does not keep its whole chunk in memory. */
  #copy(part: Uint8Array, at: number): void {
    if (this.#bytes > this.#buffer.length) {
      const larger = new Uint8Array(Math.min(this.#maxBytes, Math.max(BUFFER, 2 * this.#bytes)))
      larger.set(this.#buffer)
      this.#buffer = larger
    }
    this.#buffer.set(part, at)
  }

  /** Returns the bytes and removes them; undefined if they are too large. */
  take(): Uint8Array | undefined {
    const bytes = this.isTooLarge ? undefined : this.#buffer.subarray(0, this.#bytes)
    this.#buffer = NOTHING
    this.#bytes = 0
    return bytes
  }
}

/** Removes a byte order mark from the first line. */
const withoutMark = (line: number, bytes: Uint8Array): Uint8Array =>
  line === 1 && BYTE_ORDER_MARK.every((byte, at) => bytes[at] === byte) ? bytes.subarray(3) : bytes

const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf]
const LINE_FEED = 0x0a

/** Reads the lines of NDJSON as their bytes arrive. Buffers at most one line, and omits blank ones. */
export class LineReader {
  readonly #buffered: LineBuffer
  #line = 1

  /** @param maxBytes maximum size of a line, bytes. */
  constructor(maxBytes = DOCUMENT_BYTES) {
    this.#buffered = new LineBuffer(maxBytes)
  }

  /** Returns the records of the lines that end in a chunk. */
  push(chunk: Uint8Array): ImportRecord[] {
    const records: ImportRecord[] = []
    let from = 0
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, from)) {
      this.#buffered.add(chunk.subarray(from, end))
      records.push(...this.#read())
      this.#line++
      from = end + 1
    }
    this.#buffered.add(chunk.subarray(from))
    return records
  }

  /** Ends the body; returns the record of the last line if no line break follows it. */
  end(): ImportRecord[] {
    return this.#read()
  }

  #read(): ImportRecord[] {
    const line = this.#line
    try {
      if (this.#buffered.isEmpty) return []
      const bytes = this.#buffered.take()
      if (bytes === undefined) throw documentTooLarge()
      const text = withoutReturn(decodeText(withoutMark(line, bytes)))
      return text.trim() === '' ? [] : [{ line, text }]
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      return [{ line, failure: error }]
    }
  }
}

const withoutReturn = (text: string) => (text.endsWith('\r') ? text.slice(0, -1) : text)
