import { CollectedBytes } from '../collected-bytes.ts'
import { DOCUMENT_BYTES, documentTooLarge } from '../contract/document.ts'
import {
  BACKSLASH,
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COMMA,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
} from '../contract/json/json.ts'
import { Failure } from '../failure.ts'

// States: what may come next in the array.
const BEFORE = 0
const FIRST = 1
const ELEMENT = 2
const INSIDE = 3
const AFTER = 4
const END = 5

// Kinds of the current element. A number or a literal ends at the next separator.
const CONTAINER = 0
const STRING = 1
const LITERAL = 2

/**
 * Splits a JSON array, in UTF-8, into its elements as its bytes arrive. It checks the syntax
 * between the elements; the caller must parse each element. It takes linear time and buffers at
 * most one element.
 */
export class ArraySplitter {
  #state = BEFORE
  #kind = CONTAINER
  #depth = 0
  #inString = false
  #isEscaped = false
  /** The beginning of the current element, from earlier chunks. */
  readonly #held = new CollectedBytes()

  /**
   * Returns the elements that end in a chunk.
   *
   * @throws Failure `bad-json` if the body cannot be an array; `too-large` for an element of more
   * than {@link DOCUMENT_BYTES}.
   */
  push(chunk: Uint8Array): Uint8Array[] {
    const elements: Uint8Array[] = []
    let begin = 0
    for (let at = 0; at < chunk.length; ) {
      if (this.#state !== INSIDE) {
        if (this.#step(chunk[at] as number)) begin = at
        at++
        continue
      }
      at = this.#scan(chunk, at)
      if (this.#state === INSIDE) break
      elements.push(this.#take(chunk.subarray(begin, at)))
    }
    if (this.#state === INSIDE) this.#hold(chunk.subarray(begin))
    return elements
  }

  /** Ends the body. @throws Failure `bad-json` if the array is not closed. */
  end(): void {
    if (this.#state !== END) throw noJson()
  }

  /** Consumes a byte between two elements; returns whether it begins an element. */
  #step(byte: number): boolean {
    if (isBlank(byte)) return false
    const state = this.#state
    if (state === BEFORE && byte === OPEN_ARRAY) this.#state = FIRST
    else if (state === AFTER && byte === COMMA) this.#state = ELEMENT
    else if ((state === AFTER || state === FIRST) && byte === CLOSE_ARRAY) this.#state = END
    else if (state === FIRST || state === ELEMENT) return this.#begin(byte)
    else throw noJson()
    return false
  }

  #begin(byte: number): true {
    if (byte === COMMA || byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) throw noJson()
    const opens = byte === OPEN_ARRAY || byte === OPEN_OBJECT
    this.#state = INSIDE
    this.#kind = opens ? CONTAINER : byte === QUOTE ? STRING : LITERAL
    this.#depth = opens ? 1 : 0
    this.#inString = byte === QUOTE
    this.#isEscaped = false
    return true
  }

  /** Continues an element; returns where it ends, or the end of the chunk. */
  #scan(chunk: Uint8Array, from: number): number {
    const isContainer = this.#kind === CONTAINER
    let depth = this.#depth
    for (let at = from; at < chunk.length; at++) {
      if (this.#inString) {
        at = this.#endOfString(chunk, at)
        if (this.#inString) break
        if (this.#kind === STRING) return this.#endAt(at + 1)
        continue
      }
      const byte = chunk[at] as number
      if (!isContainer) {
        if (isBlank(byte) || byte === COMMA || byte === CLOSE_ARRAY) return this.#endAt(at)
      } else if (byte === QUOTE) {
        this.#inString = true
      } else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
        depth++
      } else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) {
        depth--
        if (depth === 0) return this.#endAt(at + 1)
      }
    }
    this.#depth = depth
    return chunk.length
  }

  #endAt(at: number): number {
    this.#state = AFTER
    return at
  }

  /** Returns the index of a string's closing quote, or the end of the chunk. */
  #endOfString(chunk: Uint8Array, from: number): number {
    let at = from
    if (this.#isEscaped) at++
    this.#isEscaped = false
    for (; at < chunk.length; at++) {
      const byte = chunk[at]
      if (byte === BACKSLASH) {
        at++
        this.#isEscaped = at === chunk.length
      } else if (byte === QUOTE) {
        this.#inString = false
        return at
      }
    }
    return chunk.length
  }

  #hold(part: Uint8Array): void {
    this.#held.add(part)
    if (this.#held.length > DOCUMENT_BYTES) throw documentTooLarge()
  }

  #take(part: Uint8Array): Uint8Array {
    this.#hold(part)
    return this.#held.take()
  }
}

const isBlank = (byte: number): boolean =>
  byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09

const noJson = () => new Failure('bad-json', 'The body is not JSON.')
