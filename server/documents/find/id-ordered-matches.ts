import { PAGE_BYTES } from '../../contract/document.ts'
import { compareCodePoints } from '../../contract/query/compare-code-points.ts'
import { JsonArray, type JsonText } from '../json/json-array.ts'
import { createDocumentPrinter } from '../query/select-fields.ts'
import type { StoredDocument } from '../repository/stored-documents.ts'
import type { PageQuery } from './page-query.ts'

/** Selects the page of a query from documents that match, in the order of ids or its opposite. */
export class IdOrderedMatches {
  /** Number of documents that match, on all pages. */
  total = 0
  /** Whether a document matches that does not fit on the page. */
  isFull = false
  /** Size of the documents on the page, bytes. */
  bytes = 0
  /** Id of the last document on the page. */
  lastId: string | undefined
  readonly #tags: string[] = []
  readonly #json = new JsonArray()
  readonly #query: PageQuery
  readonly #textOf: ReturnType<typeof createDocumentPrinter>

  constructor(query: PageQuery) {
    this.#query = query
    this.#textOf = createDocumentPrinter(query.fields)
  }

  /** Number of documents on the page. */
  get length(): number {
    return this.#tags.length
  }

  /** Adds a document that matches. */
  add({ id, tag, body }: StoredDocument): void {
    this.total++
    if (this.isFull || this.#isBeforePage(id)) return
    const text = this.#textOf(body)
    if (text === undefined) {
      this.total--
      this.#query.onDamaged?.(id)
      return
    }
    const size = Buffer.byteLength(text)
    this.isFull =
      this.length === this.#query.limit || (this.bytes + size > PAGE_BYTES && this.length > 0)
    if (this.isFull) return
    this.bytes += size
    this.lastId = id
    this.#tags.push(tag)
    this.#json.add(text)
  }

  /** Encodes the documents added since the last call. Call it after each batch. */
  encode(): void {
    this.#json.encode()
  }

  /** Returns the documents on the page. */
  page(): { readonly returned: number; readonly tags: string; readonly json: JsonText } {
    return { returned: this.length, tags: this.#tags.join('\n'), json: this.#json.print() }
  }

  /** Returns whether a document is only counted. Counting begins with the first document. */
  #isBeforePage(id: string): boolean {
    const { from, sort, count } = this.#query
    if (!count || from === undefined) return false
    const difference = compareCodePoints(id, from.id)
    return sort[0]?.isDescending ? difference >= 0 : difference <= 0
  }
}
