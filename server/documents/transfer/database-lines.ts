import type { ImportRecord } from '../../contract/records/read-records.ts'
import { Failure } from '../../failure.ts'

/** Matches the beginning of a line with a document, whose JSON text follows. */
const DOCUMENT = /^\s*\{\s*"document"\s*:/

/** The lines of a database export. Documents are read in parts, other lines one by one. */
export class DatabaseLines {
  readonly #parts: AsyncIterator<readonly ImportRecord[], unknown>
  #part: readonly ImportRecord[] = []
  #at = 0
  #last = 0
  #documents = 0

  constructor(parts: AsyncIterable<readonly ImportRecord[]>) {
    this.#parts = parts[Symbol.asyncIterator]()
  }

  /** Number of documents read so far. */
  get documents(): number {
    return this.#documents
  }

  /** Number of the last line read. */
  get last(): number {
    return this.#last
  }

  /**
   * Returns the value of the next line, which is not a document; undefined at the end.
   *
   * @throws Failure `invalid` if it is not JSON.
   */
  async next(): Promise<unknown> {
    const line = await this.#peek()
    if (line === undefined) return undefined
    this.#at++
    this.#last = line.line
    try {
      if ('failure' in line) throw line.failure
      return JSON.parse(line.text)
    } catch (cause) {
      throw new Failure('invalid', `Line ${line.line} is not part of an export of a database.`, {
        cause,
      })
    }
  }

  /** Reads the documents up to the next other line. */
  async *nextDocuments(): AsyncGenerator<readonly ImportRecord[], void> {
    while ((await this.#peek()) !== undefined) {
      const documents: ImportRecord[] = []
      for (; this.#at < this.#part.length; this.#at++) {
        const document = toDocument(this.#part[this.#at] as ImportRecord)
        if (document === undefined) break
        documents.push(document)
      }
      this.#documents += documents.length
      this.#last = documents.at(-1)?.line ?? this.#last
      if (documents.length > 0) yield documents
      if (this.#at < this.#part.length) return
    }
  }

  /** Closes the source. */
  async close(): Promise<void> {
    await this.#parts.return?.()
  }

  async #peek(): Promise<ImportRecord | undefined> {
    while (this.#at === this.#part.length) {
      const { done, value } = await this.#parts.next()
      if (done) return undefined
      this.#part = value
      this.#at = 0
    }
    return this.#part[this.#at]
  }
}

/** Returns the document of a line; undefined for another line. */
function toDocument(record: ImportRecord): ImportRecord | undefined {
  if ('failure' in record) return record
  const [begin] = DOCUMENT.exec(record.text) ?? []
  if (begin === undefined) return undefined
  const end = record.text.lastIndexOf('}')
  return { line: record.line, text: record.text.slice(begin.length, end) }
}
