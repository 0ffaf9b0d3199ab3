import { PAGE_BYTES } from '../../contract/document.ts'
import { invariant } from '../../contract/invariant.ts'
import type { Json } from '../../contract/json/json.ts'
import { createComparator, type Position, positionOf } from '../query/order.ts'
import type { PageQuery } from '../query/query.ts'
import { createDocumentPrinter } from '../query/select-fields.ts'

/** A stored document with its parsed body. */
export interface ParsedDocument {
  readonly id: string
  readonly tag: string
  readonly body: string
  readonly parsed: Json
}

/** Selects the page of a query from documents in any order. */
export class SortedMatches {
  /** The first documents after the position at which the page begins. */
  readonly top: TopDocuments
  /** Number of documents that match, on all pages. */
  total = 0
  readonly #query: PageQuery
  readonly #compare: ReturnType<typeof createComparator>
  readonly #textOf: ReturnType<typeof createDocumentPrinter>

  constructor(query: PageQuery) {
    this.#query = query
    this.#compare = createComparator(query.sort)
    this.#textOf = createDocumentPrinter(query.fields)
    this.top = new TopDocuments(this.#compare, query.limit)
  }

  /** Adds a document if it matches. Returns a promise only if the filter takes time. */
  add(document: ParsedDocument): Promise<void> | undefined {
    const matched = this.#query.matches?.(document.parsed) ?? true
    if (typeof matched !== 'boolean') {
      return matched.then((isMatch) => {
        if (isMatch) this.#offer(document)
      })
    }
    if (matched) this.#offer(document)
    return undefined
  }

  #offer({ id, tag, body, parsed }: ParsedDocument): void {
    const { sort, from } = this.#query
    this.total++
    const position = positionOf(parsed, id, sort)
    if (from !== undefined && this.#compare(position, from) <= 0) return
    this.top.offer(position, () => ({ id, tag, text: copyOf(this.#textOf(body) ?? body) }))
  }
}

/** Returns a copy of a text that may be a slice of a batch, and would keep the batch in memory. */
const copyOf = (text: string): string => Buffer.from(text).toString()

/** A document on a page. `text` is the JSON to return. */
export interface PageDocument {
  readonly id: string
  readonly tag: string
  readonly text: string
}

interface Entry extends PageDocument {
  readonly position: Position
  /** The size of the text and of the values to sort by, which may not be part of the text. */
  readonly bytes: number
}

const sizeOf = ({ values }: Position): number =>
  values.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 0), 0)

/**
 * Collects the first documents in an order, at most `limit` and {@link PAGE_BYTES}, and whether
 * there are more. It holds about one page in memory, however many documents are offered.
 */
export class TopDocuments {
  readonly #compare: (one: Position, other: Position) => number
  readonly #limit: number
  #entries: Entry[] = []
  #bytes = 0

  constructor(compare: (one: Position, other: Position) => number, limit: number) {
    this.#compare = compare
    this.#limit = limit
  }

  /** @param make returns the document. It is called only if the document is among the first. */
  offer(position: Position, make: () => PageDocument): void {
    const last = this.#entries.at(-1)
    const isFull = this.#entries.length > this.#limit || this.#isOverflowing()
    if (isFull && last !== undefined && this.#compare(position, last.position) > 0) return
    const document = make()
    const bytes = Buffer.byteLength(document.text) + sizeOf(position)
    this.#entries.splice(this.#indexFor(position), 0, { ...document, position, bytes })
    this.#bytes += bytes
    // One document more than the page holds shows that there is a next page.
    while (this.#entries.length > this.#limit + 1 || this.#hasSurplus()) {
      const removed = this.#entries.pop()
      invariant(removed, 'a page that is too large has a document')
      this.#bytes -= removed.bytes
    }
  }

  /** Bytes of the documents that are kept. */
  get bytes(): number {
    return this.#bytes
  }

  /** Returns the page, and the position of its last document if there is a next page. */
  page(): {
    readonly documents: readonly PageDocument[]
    readonly bytes: number
    readonly next: Position | undefined
  } {
    let bytes = 0
    let length = 0
    for (const entry of this.#entries) {
      if (length === this.#limit || (length > 0 && bytes + entry.bytes > PAGE_BYTES)) break
      bytes += entry.bytes
      length++
    }
    const isLast = length === this.#entries.length
    const documents = this.#entries.slice(0, length)
    return { documents, bytes, next: isLast ? undefined : documents.at(-1)?.position }
  }

  /** Whether the documents exceed a page by their size. */
  #isOverflowing(): boolean {
    return this.#entries.length > 1 && this.#bytes > PAGE_BYTES
  }

  /** Whether the documents exceed a page even without the last one. */
  #hasSurplus(): boolean {
    const last = this.#entries.at(-1)
    return last !== undefined && this.#entries.length > 2 && this.#bytes - last.bytes > PAGE_BYTES
  }

  #indexFor(position: Position): number {
    let [low, high] = [0, this.#entries.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      const entry = this.#entries[middle]
      if (entry !== undefined && this.#compare(entry.position, position) < 0) low = middle + 1
      else high = middle
    }
    return low
  }
}
