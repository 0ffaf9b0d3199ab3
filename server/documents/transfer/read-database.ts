import type * as z from 'zod/mini'
import { isCollectionName } from '../../contract/document.ts'
import { issueReason } from '../../contract/issue-reason.ts'
import { jsonPointer } from '../../contract/json/json.ts'
import { requireJsonLimits } from '../../contract/json/json-limits.ts'
import { parseJson } from '../../contract/json/parse-json.ts'
import type { ImportRecord } from '../../contract/records/import-record.ts'
import {
  DEFINITION_BYTES,
  EXPORT_VERSION,
  exportEnd,
  exportedCollection,
  exportHead,
} from '../../contract/transfer.ts'
import { Failure } from '../../failure.ts'
import { type StoredPart, storedParts } from '../import/stored-part.ts'

/** The schema and the indexes of a collection in an export. */
export interface CollectionDefinition extends z.infer<typeof exportedCollection> {
  /** The line that defines the collection. */
  readonly line: number
}

/** A collection of an export. Its documents must be read before the next collection. */
export interface ExportedCollection {
  readonly definition: CollectionDefinition
  readonly documents: AsyncIterable<readonly ImportRecord[]>
}

/**
 * Reads the collections of a database export.
 *
 * @throws Failure `invalid` if the records are not a complete export.
 */
export async function* readDatabase(
  records: AsyncIterable<readonly ImportRecord[]>,
): AsyncGenerator<ExportedCollection, void> {
  const lines = new DatabaseLines(records)
  let collections = 0
  try {
    requireHead(await lines.next())
    for (;;) {
      const value = await lines.next()
      if (value === undefined) throw incomplete()
      const end = exportEnd.safeParse(value)
      if (end.success) {
        const expected = end.data.end
        if (collections !== expected.collections || lines.documents !== expected.documents) {
          throw incomplete()
        }
        if ((await lines.next()) !== undefined) throw misplaced(lines.last)
        return
      }
      const definition = parseDefinition(value, lines.last)
      collections++
      yield { definition, documents: lines.nextDocuments() }
    }
  } finally {
    await lines.close()
  }
}

function requireHead(value: unknown): void {
  const head = exportHead.safeParse(value)
  if (!head.success) {
    throw new Failure('invalid', 'The body is not an export of a database.', { field: '' })
  }
  if (head.data.gatehouse === EXPORT_VERSION) return
  throw new Failure(
    'invalid',
    `The export has version ${head.data.gatehouse} of its format. This server reads version ${EXPORT_VERSION}.`,
    { field: '/gatehouse' },
  )
}

/** @throws Failure `invalid`. Its field is a pointer into the line if it defines a collection. */
function parseDefinition(value: unknown, line: number): CollectionDefinition {
  const { success, data, error } = exportedCollection.safeParse(value)
  if (success && isCollectionName(data.collection)) return { ...data, line }
  const [issue] = error?.issues ?? []
  const isDefinition = typeof value === 'object' && value !== null && 'collection' in value
  if (issue === undefined || !isDefinition) throw misplaced(line)
  const field = jsonPointer(issue.path)
  const message = `Line ${line} does not define a collection. ${field}: ${issueReason(issue)}.`
  throw new Failure('invalid', message, { field })
}

const incomplete = () =>
  new Failure(
    'invalid',
    'The export is incomplete: its end is missing, or does not match the lines before it.',
  )

/** Matches the beginning of a line with a document, whose JSON text follows. */
const DOCUMENT = /^\s*\{\s*"document"\s*:/

/** The lines of a database export. Documents are read in parts, other lines one by one. */
class DatabaseLines {
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
const misplaced = (line: number, cause?: unknown) =>
  new Failure('invalid', `Line ${line} is not part of an export of a database.`, { cause })

/** Returns the document of a line; undefined for another line. */
function toDocument(record: ImportRecord): ImportRecord | undefined {
  if ('failure' in record) return record
  const [begin] = DOCUMENT.exec(record.text) ?? []
  if (begin === undefined) return undefined
  const end = record.text.lastIndexOf('}')
  return { line: record.line, text: record.text.slice(begin.length, end) }
}

/**
 * Prints a database export in parts for a job. A part is the name of a collection, a space, and some
 * of its documents, or after them its definition as JSON.
 */
export async function* storedDatabase(
  collections: AsyncIterable<ExportedCollection>,
): AsyncGenerator<StoredPart> {
  for await (const { definition, documents } of collections) {
    for await (const { text, records } of storedParts(documents)) {
      yield { text: `${definition.collection} ${text}`, records }
    }
    yield { text: `${definition.collection} ${JSON.stringify(definition)}`, records: 0 }
  }
}

/** Parses a part that {@link storedDatabase} has printed. */
export function parseDatabasePart(text: string): {
  readonly collection: string
  /** The documents as `stored-part.ts` has printed them, or the definition of the collection. */
  readonly content: string | CollectionDefinition
} {
  const end = text.indexOf(' ')
  const content = text.slice(end + 1)
  return {
    collection: text.slice(0, end),
    content: content.startsWith('[')
      ? content
      : (parseJson(content) as unknown as CollectionDefinition),
  }
}
