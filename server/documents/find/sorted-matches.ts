import type { Json } from '../../contract/json/json.ts'
import { createComparator, positionOf } from '../query/order.ts'
import { createDocumentPrinter } from '../query/select-fields.ts'
import type { PageQuery } from './page-query.ts'
import { TopDocuments } from './top-documents.ts'

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
