/** A JSON text: a string if it is small, otherwise UTF-8 in parts of about 1 MiB. */
export type JsonText = string | readonly Buffer[]

/** Collects JSON texts into an array, and encodes them in steps of a few milliseconds. */
export class JsonArray {
  #texts: string[] = []
  readonly #parts: Buffer[] = []

  add(text: string): void {
    this.#texts.push(text)
  }

  /** Encodes the texts added since the last call. Call it after about each MiB. */
  encode(): void {
    if (this.#texts.length === 0) return
    const before = this.#parts.length === 0 ? '[' : ','
    this.#parts.push(Buffer.from(before + this.#texts.join(',')))
    this.#texts = []
  }

  /** Returns the array, in parts if {@link encode} was called before. */
  print(): JsonText {
    if (this.#parts.length === 0) return `[${this.#texts.join(',')}]`
    this.encode()
    return [...this.#parts, Buffer.from(']')]
  }
}
