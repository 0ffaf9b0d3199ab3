import { DOCUMENT_BYTES } from '../document.ts'

/** The bytes of a record, or undefined if it is too large. */
export interface RawRecord {
  /** The line on which it begins, from 1. */
  readonly line: number
  readonly bytes: Uint8Array | undefined
}

/** Splits a body into records as its bytes arrive. It buffers at most one record. */
export interface RecordSplitter {
  /** Returns the records that end in a chunk. */
  push(chunk: Uint8Array): RawRecord[]
  /** Ends the body; returns the last record if no line break follows it. */
  end(): RawRecord[]
}

const NOTHING = new Uint8Array()

/** Size of the buffer for a record in several chunks, bytes. It is doubled when it is full. */
const BUFFER = 1024

/** Collects a record from several chunks. */
class RecordBuffer {
  readonly #maxBytes: number
  /** Begins with the bytes so far. A record in one chunk is not copied. */
  #buffer: Uint8Array = NOTHING
  #bytes = 0

  /** @param maxBytes maximum size of a record, bytes. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get isEmpty(): boolean {
    return this.#bytes === 0
  }

  get isTooLarge(): boolean {
    return this.#bytes > this.#maxBytes
  }

  /** Drops the record once it is too large; only its length is counted from then on. */
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

  take(line: number): RawRecord {
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
const QUOTE = 0x22

/** Splits a body into lines. Omits empty ones. */
export class LineSplitter implements RecordSplitter {
  readonly #record: RecordBuffer
  #line = 1

  /** @param maxBytes maximum size of a line, bytes. */
  constructor(maxBytes = DOCUMENT_BYTES) {
    this.#record = new RecordBuffer(maxBytes)
  }

  push(chunk: Uint8Array): RawRecord[] {
    const records: RawRecord[] = []
    let from = 0
    for (;;) {
      if (this.#record.isEmpty) {
        for (; chunk[from] === LINE_FEED; from++) this.#line++
      }
      const end = chunk.indexOf(LINE_FEED, from)
      if (end === -1) break
      this.#record.add(chunk.subarray(from, end))
      records.push(this.#record.take(this.#line++))
      from = end + 1
    }
    this.#record.add(chunk.subarray(from))
    return records
  }

  end(): RawRecord[] {
    return this.#record.isEmpty ? [] : [this.#record.take(this.#line)]
  }
}

// Places in a CSV record.
const CELL_START = 0
const PLAIN = 1
const QUOTED = 2
const AFTER_QUOTE = 3

/** Matches a line that names the separator of the cells, as Excel reads it. */
const SEPARATOR_LINE = /^sep=([,;\t])\r?$/i
const SEPARATOR_LINE_BYTES = 6

/**
 * Splits a body into CSV records (RFC 4180): lines, except that a quoted cell may contain line
 * breaks. The caller must check the quotes of each record. Omits empty lines, and a first line that
 * names the separator.
 */
export class CsvSplitter implements RecordSplitter {
  readonly #record = new RecordBuffer(DOCUMENT_BYTES)
  #separator: number
  #line = 1
  #firstLine = 1
  #place = CELL_START
  #seen = 0

  /** @param separator an ASCII character; the first line may name another one. */
  constructor(separator: string) {
    this.#separator = separator.charCodeAt(0)
  }

  /** The separator of the records that were returned. */
  get separator(): string {
    return String.fromCharCode(this.#separator)
  }

  push(chunk: Uint8Array): RawRecord[] {
    const records: RawRecord[] = []
    let from = 0
    let state = this.#place
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at]
      if (byte === QUOTE) {
        if (state === CELL_START || state === AFTER_QUOTE) state = QUOTED
        else if (state === QUOTED) state = AFTER_QUOTE
      } else if (byte === LINE_FEED) {
        this.#line++
        if (state === QUOTED) continue
        if (at > from || !this.#record.isEmpty) {
          this.#record.add(chunk.subarray(from, at))
          const record = this.#record.take(this.#firstLine)
          if (!this.#namesSeparator(record)) records.push(record)
        }
        this.#firstLine = this.#line
        from = at + 1
        state = CELL_START
      } else if (byte === this.#separator) {
        if (state !== QUOTED) state = CELL_START
      } else if (state !== QUOTED && byte !== BYTE_ORDER_MARK[this.#seen + at]) {
        state = PLAIN
      }
    }
    this.#place = state
    this.#seen += chunk.length
    this.#record.add(chunk.subarray(from))
    // It ends the import, which must not wait for the rest of a record without an end.
    if (this.#record.isTooLarge) records.push(this.#record.take(this.#firstLine))
    return records
  }

  end(): RawRecord[] {
    return this.#record.isEmpty ? [] : [this.#record.take(this.#firstLine)]
  }

  /** Returns whether a record is a line that names the separator, and uses that one. */
  #namesSeparator({ line, bytes }: RawRecord): boolean {
    if (line !== 1 || bytes === undefined || bytes.length > SEPARATOR_LINE_BYTES) return false
    const [, separator] = SEPARATOR_LINE.exec(String.fromCharCode(...bytes)) ?? []
    if (separator === undefined) return false
    this.#separator = separator.charCodeAt(0)
    return true
  }
}
