import { createTimeSlice, nextTurn } from '../../concurrency/turns.ts'
import { PAGE_BYTES } from '../../contract/document.ts'
import { compareCodePoints } from '../../contract/query/compare-code-points.ts'
import type { CollectionRef } from '../../storage/document-ref.ts'
import { requiredTexts } from '../query/filter.ts'
import { isIdOrder, type Position } from '../query/order.ts'
import type { PageQuery } from '../query/query.ts'
import { createDocumentPrinter } from '../query/select-fields.ts'
import { parseFields } from '../read-fields.ts'
import { BATCH_BYTES, type ScanBatch } from '../repository/scan-batch.ts'
import type { DocumentRepository, StoredDocument } from '../repository/stored-documents.ts'
import type { ScanStep } from './scan-limit.ts'
import { SortedMatches, type TopDocuments } from './sorted-matches.ts'

/** A page of a collection. */
export interface Page {
  /** Number of documents on the page. */
  readonly returned: number
  /** The tags of the documents, each on a line. They identify the state of the page. */
  readonly tags: string
  /** The documents as a JSON array. */
  readonly json: JsonText
  /** The position after which the next page begins; undefined on the last page. */
  readonly next: Position | undefined
  /** Number of documents that match, on all pages; undefined if it was not requested. */
  readonly total: number | undefined
  /** Number of documents, or entries of an index, that were read. */
  readonly scanned: number
  /** Name of the index that served the query; undefined for a scan. */
  readonly index?: string
}

/** Bounds of one scan of a collection. */
export interface ScanBounds {
  /**
   * Maximum number of batches (`scan-batch.ts`). By default the scan ends when the page is complete.
   */
  readonly batches?: number
  /** The last id to read. */
  readonly upTo?: string
  /** Awaited before each batch is read, with the maximum size of the page after it, bytes. */
  readonly reserve?: (bytes: number) => Promise<void> | undefined
  /** Runs each batch. By default the scan has no limits. */
  readonly step?: ScanStep
}

/** A batch larger than this yields to other requests first, bytes. */
const SMALL_BYTES = 64 * 1024

export interface ReadPageDeps {
  readonly repository: DocumentRepository
}

const unlimited: ScanStep = async (step) => step()

/**
 * Returns documents that match, in the requested order: fewer than `limit` if they are too large for
 * one page. A page whose scan ended early may hold few documents or none and still have a
 * `next`.
 */
export function readPage(
  deps: ReadPageDeps,
  where: CollectionRef,
  query: PageQuery,
  bounds: ScanBounds = {},
): Promise<Page> {
  return isIdOrder(query.sort)
    ? scanInIdOrder(deps, where, query, bounds)
    : scanSorted(deps, where, query, bounds)
}

/** Reads documents in the order of ids, or in the opposite one, until the page is complete. */
async function scanInIdOrder(
  { repository }: ReadPageDeps,
  where: CollectionRef,
  query: PageQuery,
  { batches = Infinity, upTo, reserve, step = unlimited }: ScanBounds,
): Promise<Page> {
  const { matches, conditions, sort, limit, from, count } = query
  const page = new IdOrderedMatches(query)
  const isDescending = sort[0]?.isDescending ?? false
  const readsAll = matches !== undefined || count
  const required = requiredTexts(conditions)
  // Counting begins with the first document, not with the page.
  let after = count ? undefined : from?.id
  let scanned = 0
  const isComplete = () => page.isFull && !count
  /** Reads the next documents of a page without a filter, which are all on it. */
  async function readNext(): Promise<ScanBatch> {
    // One more than requested, to detect a next page.
    const size = limit + 1 - page.length
    const range = { after, last: upTo, isDescending }
    const { last, bytes, documents } = await step(() =>
      repository.extent(where, range, size, BATCH_BYTES),
    )
    if (bytes > SMALL_BYTES) await nextTurn()
    // After the wait, in which the client may disconnect. Not part of a step, because it may wait for
    // clients to read their responses.
    await reserve?.(page.bytes + bytes)
    const rest = { ...range, last: last ?? upTo }
    const rows = await step(() => documents ?? repository.list(where, rest, size))
    const isEnd = last === undefined && rows.length < size
    return { scanned: rows.length, last: rows.at(-1)?.id, isEnd, documents: rows }
  }
  /** Reads the next documents that may match. */
  async function scanNext(): Promise<ScanBatch> {
    if (!page.isFull) await reserve?.(page.bytes + BATCH_BYTES)
    return step(() => repository.scan(where, { after, last: upTo, isDescending }, { required }))
  }
  async function addMatching(rows: readonly StoredDocument[]): Promise<void> {
    const timeSlice = createTimeSlice()
    for (const row of rows) {
      const turn = timeSlice()
      if (turn !== undefined) await turn
      if (matches !== undefined) {
        const parsed = parseFields(row.body, query.reads)
        if (parsed === undefined) {
          query.onDamaged?.(row.id)
          continue
        }
        const matched = matches(parsed)
        if (!(typeof matched === 'boolean' ? matched : await matched)) continue
      }
      page.add(row)
      if (isComplete()) return
    }
  }
  for (let batch = 1; ; batch++) {
    if (batch > 1) await nextTurn()
    const found = await (readsAll ? scanNext() : readNext())
    await (readsAll ? step(() => addMatching(found.documents)) : addMatching(found.documents))
    scanned += found.scanned
    after = found.last
    if (found.isEnd || batch >= batches || isComplete()) {
      const end = page.isFull ? page.lastId : found.isEnd ? undefined : after
      return {
        ...page.page(),
        next: end === undefined ? undefined : { values: sort.map(() => end), id: end },
        total: count ? page.total : undefined,
        scanned,
      }
    }
    page.encode()
  }
}

/** Reads the whole collection and keeps the first documents in the order. */
async function scanSorted(
  { repository }: ReadPageDeps,
  where: CollectionRef,
  query: PageQuery,
  { upTo, reserve, step = unlimited }: ScanBounds,
): Promise<Page> {
  const timeSlice = createTimeSlice()
  const matches = new SortedMatches(query)
  const required = requiredTexts(query.conditions)
  let scanned = 0
  let after: string | undefined
  async function addNext(): Promise<boolean> {
    const batch = await repository.scan(where, { after, last: upTo }, { required })
    scanned += batch.scanned
    after = batch.last
    for (const { id, tag, body } of batch.documents) {
      const turn = timeSlice()
      if (turn !== undefined) await turn
      const parsed = parseFields(body, query.reads)
      if (parsed === undefined) {
        query.onDamaged?.(id)
        continue
      }
      const adding = matches.add({ id, tag, body, parsed })
      if (adding !== undefined) await adding
    }
    return !batch.isEnd
  }
  while (await step(addNext)) await nextTurn()
  const page = await toSortedPage(matches.top, reserve)
  return { ...page, total: query.count ? matches.total : undefined, scanned }
}

/** Returns the page of the first documents in an order. */
export async function toSortedPage(
  top: TopDocuments,
  reserve: ScanBounds['reserve'],
): Promise<Pick<Page, 'returned' | 'tags' | 'json' | 'next'>> {
  const { documents, bytes, next } = top.page()
  await reserve?.(bytes)
  const json = new JsonArray()
  let added = 0
  for (const { text } of documents) {
    json.add(text)
    added += text.length
    if (added < BATCH_BYTES) continue
    json.encode()
    added = 0
    await nextTurn()
  }
  return {
    returned: documents.length,
    tags: documents.map(({ tag }) => tag).join('\n'),
    json: json.print(),
    next,
  }
}

/** Selects the page of a query from documents that match, in the order of ids or its opposite. */
class IdOrderedMatches {
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
