/** A chunk of less than this is copied, bytes: it may take a hundred times its size. */
const SMALL = 1024

/** Size of the blocks into which small chunks are copied, bytes. */
const BLOCK = 4 * 1024

/**
 * Bytes that arrive in chunks. They take little more memory than their length, however small the
 * chunks are. A single chunk is not copied.
 */
export class CollectedBytes {
  readonly #parts: Uint8Array[] = []
  #block: Uint8Array = new Uint8Array()
  /** Where the last small chunks, which are not among the parts yet, begin and end in the block. */
  #from = 0
  #to = 0
  #length = 0

  get length(): number {
    return this.#length
  }

  add(chunk: Uint8Array): void {
    const isFirst = this.#length === 0
    this.#length += chunk.length
    if (isFirst || chunk.length >= SMALL) {
      this.#endBlock()
      this.#parts.push(chunk)
      return
    }
    if (this.#to + chunk.length > this.#block.length) {
      this.#endBlock()
      this.#block = new Uint8Array(BLOCK)
      this.#from = 0
      this.#to = 0
    }
    this.#block.set(chunk, this.#to)
    this.#to += chunk.length
  }

  /** Returns the bytes and removes them. */
  take(): Uint8Array {
    this.#endBlock()
    const [only] = this.#parts
    const bytes = only !== undefined && this.#parts.length === 1 ? only : Buffer.concat(this.#parts)
    this.#parts.length = 0
    this.#length = 0
    return bytes
  }

  #endBlock(): void {
    if (this.#from === this.#to) return
    this.#parts.push(this.#block.subarray(this.#from, this.#to))
    this.#from = this.#to
  }
}
