import { Failure } from '../../failure.ts'
import { DOCUMENT_BYTES } from '../document.ts'
import { documentTooLarge } from '../document-too-large.ts'
import { decodeText, type ImportRecord } from './import-record.ts'

/** The bytes of a line, or undefined if it is too large. */
export interface RawLine {
  /** From 1. */
  readonly line: number
  readonly bytes: Uint8Array | undefined
}

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

  /** Copies small parts, each of which would otherwise keep its whole chunk in memory. */
  #copy(part: Uint8Array, at: number): void {
    if (this.#bytes > this.#buffer.length) {
      const larger = new Uint8Array(Math.min(this.#maxBytes, Math.max(BUFFER, 2 * this.#bytes)))
      larger.set(this.#buffer)
      this.#buffer = larger
    }
    this.#buffer.set(part, at)
  }

  take(line: number): RawLine {
    const bytes = this.isTooLarge ? undefined : this.#buffer.subarray(0, this.#bytes)
    this.#buffer = NOTHING
    this.#bytes = 0
    return { line, bytes: bytes && withoutMark(line, bytes) }
  }
}

/** Removes a byte order mark from the first line. */
const withoutMark = (line: number, bytes: Uint8Array): Uint8Array =>
  line === 1 && BYTE_ORDER_MARK.every((byte, at) => bytes[at] === byte) ? bytes.subarray(3) : bytes

const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf]
const LINE_FEED = 0x0a

/** Reads the lines of NDJSON as their bytes arrive. Buffers at most one line, and omits empty ones. */
export class LineReader {
  readonly #buffered: LineBuffer
  #line = 1

  /** @param maxBytes maximum size of a line, bytes. */
  constructor(maxBytes = DOCUMENT_BYTES) {
    this.#buffered = new LineBuffer(maxBytes)
  }

  /** Returns the lines that end in a chunk. */
  push(chunk: Uint8Array): RawLine[] {
    const lines: RawLine[] = []
    let from = 0
    for (;;) {
      if (this.#buffered.isEmpty) {
        for (; chunk[from] === LINE_FEED; from++) this.#line++
      }
      const end = chunk.indexOf(LINE_FEED, from)
      if (end === -1) break
      this.#buffered.add(chunk.subarray(from, end))
      lines.push(this.#buffered.take(this.#line++))
      from = end + 1
    }
    this.#buffered.add(chunk.subarray(from))
    return lines
  }

  /** Ends the body; returns the last line if no line break follows it. */
  end(): RawLine[] {
    return this.#buffered.isEmpty ? [] : [this.#buffered.take(this.#line)]
  }

  /** Returns the record of a line; undefined if the line is blank. */
  read({ line, bytes }: RawLine): ImportRecord | undefined {
    try {
      if (bytes === undefined) throw documentTooLarge()
      const text = withoutReturn(decodeText(bytes))
      return text.trim() === '' ? undefined : { line, text }
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      return { line, failure: error }
    }
  }
}

const withoutReturn = (text: string) => (text.endsWith('\r') ? text.slice(0, -1) : text)
