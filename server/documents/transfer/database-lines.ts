import { requireJsonLimits } from '../../contract/json/json-limits.ts'
import { parseJson } from '../../contract/json/parse-json.ts'
import type { ImportRecord } from '../../contract/records/import-record.ts'
import { DEFINITION_BYTES } from '../../contract/transfer.ts'
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
   * @throws Failure `invalid` if it is not JSON or exceeds the limits of JSON; `too-large`.
   */
  async next(): Promise<unknown> {
    const line = await this.#peek()
    if (line === undefined) return undefined
    this.#at++
    this.#last = line.line
    if ('failure' in line) throw misplaced(line.line, line.failure)
    requireLimits(line)
    try {
      return parseJson(line.text)
    } catch (cause) {
      throw misplaced(line.line, cause)
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

/** @throws Failure `too-large`, `invalid` for a line that an export does not contain. */
function requireLimits({ line, text }: ImportRecord & { readonly text: string }): void {
  if (Buffer.byteLength(text) > DEFINITION_BYTES) {
    throw new Failure(
      'too-large',
      `Line ${line} is larger than ${DEFINITION_BYTES / 1024} KiB, the limit of lines without a document.`,
    )
  }
  try {
    // A schema of the maximum depth is part of an object.
    requireJsonLimits(text, 1)
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    throw error.with({ message: `Line ${line}: ${error.message}` })
  }
}

/** Returns the failure of a line that an export does not contain at its position. */
export const misplaced = (line: number, cause?: unknown) =>
  new Failure('invalid', `Line ${line} is not part of an export of a database.`, { cause })

/** Returns the document of a line; undefined for another line. */
function toDocument(record: ImportRecord): ImportRecord | undefined {
  if ('failure' in record) return record
  const [begin] = DOCUMENT.exec(record.text) ?? []
  if (begin === undefined) return undefined
  const end = record.text.lastIndexOf('}')
  return { line: record.line, text: record.text.slice(begin.length, end) }
}
