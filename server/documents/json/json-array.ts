/** A JSON text: as such where it is small, else as UTF-8 in parts of about a MiB. */
export type JsonText = string | readonly Buffer[]

/** Collects the texts of JSON values and prints them as an array, in slices of a few ms. */
export class JsonArray {
  #texts: string[] = []
  readonly #parts: Buffer[] = []

  add(text: string): void {
    this.#texts.push(text)
  }

  /** Encodes what was added since the last call. To be called after each MiB or so. */
  encode(): void {
    if (this.#texts.length === 0) return
    const before = this.#parts.length === 0 ? '[' : ','
    this.#parts.push(Buffer.from(before + this.#texts.join(',')))
    this.#texts = []
  }

  /** Returns the array; in parts where {@link encode} was called before. */
  print(): JsonText {
    if (this.#parts.length === 0) return `[${this.#texts.join(',')}]`
    this.encode()
    return [...this.#parts, Buffer.from(']')]
  }
}
