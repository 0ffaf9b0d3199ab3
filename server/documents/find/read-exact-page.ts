import { invariant } from '../../contract/invariant.ts'
import { valueAt } from '../../contract/query/field-path.ts'
import type { CollectionRef } from '../../storage/document-ref.ts'
import { mayBeTruncated } from '../indexes/index-key.ts'
import type { IndexPlan } from '../indexes/plan.ts'
import type { IndexRange } from '../indexes/read/index-reader.ts'
import type { IndexedPage, PageReader } from '../indexes/read/page-reader.ts'
import { type Position, positionOf } from '../query/order.ts'
import type { PageQuery } from '../query/query.ts'
import { createDocumentPrinter } from '../query/select-fields.ts'
import { parseFields } from '../read-fields.ts'
import { beginAfter } from './read-by-index.ts'
import type { Page } from './read-page.ts'

/**
 * Returns the page of a query that needs only an index: its ranges contain exactly the documents
 * that match, in the requested order. One statement then reads the page, and the documents are not
 * compared and not parsed. The result is a promise only if the store is asynchronous.
 *
 * Returns undefined for other queries, such as those in the opposite order of the index, if a document
 * or its values to sort by are large, and if the index was dropped.
 */
export function readExactPage(
  reader: PageReader,
  where: CollectionRef,
  plan: IndexPlan,
  query: PageQuery,
): Page | undefined | Promise<Page | undefined> {
  const { index, isExact, isOrdered, isReversed } = plan
  const { limit, count } = query
  if (!isExact || !isOrdered || isReversed || count) return undefined
  const [first, other, ...more] = rangesOf(plan, query) ?? []
  if (first === undefined || more.length > 0) return undefined
  // The ranges of one stream follow each other. Those of two streams would have to be merged.
  const isSequence = plan.streams.length === 1

  function accept(found: IndexedPage | undefined): ReturnType<typeof readExactPage> {
    if (found === undefined) return undefined
    if (other === undefined || !found.hasOther) return toPage(plan, query, found)
    if (found.scanned === 0) return read(other, undefined)
    return isSequence && found.scanned > limit ? toPage(plan, query, found) : undefined
  }
  function read(range: IndexRange, next: typeof other) {
    const reading = reader.page(where, index, range, next, limit)
    return reading instanceof Promise ? reading.then(accept) : accept(reading)
  }
  return read(first, other)
}

/** Returns the ranges of the index to read; undefined if the position to begin after is unknown. */
function rangesOf(plan: IndexPlan, query: PageQuery): IndexRange[] | undefined {
  const { streams } = plan
  const from = query.from && beginAfter(plan, query, query.from)
  if (from === 'unknown' || streams.length > 2) return undefined
  // `year=2000` matches a number and a string. Numbers are more common, so they are read first.
  return streams.toReversed().flatMap(({ prefix, ranges }) => {
    if (from === undefined) return ranges.map(({ lower, upper }) => ({ key: lower, id: '', upper }))
    const key = Buffer.concat([prefix, from.rest])
    return ranges
      .filter(({ upper }) => Buffer.compare(key, upper) < 0)
      .map(({ lower, upper }) =>
        Buffer.compare(key, lower) < 0
          ? { key: lower, id: '', upper }
          : { key, id: from.id, upper },
      )
  })
}

function toPage(
  { index }: IndexPlan,
  { sort, fields, reads, limit }: PageQuery,
  { isReady, bodies, longestKey, scanned, tags }: IndexedPage,
): Page | undefined {
  // The order of documents with the same truncated key is unknown, and they may not match.
  if (!isReady || mayBeTruncated(longestKey, index.fields.length)) return undefined
  const textOf = createDocumentPrinter(fields)
  const next = scanned > limit ? positionOfLast() : undefined
  if (next === 'unknown') return undefined
  const texts = bodies.map(textOf)
  if (texts.some((text) => text === undefined)) return undefined
  return {
    tags,
    scanned,
    returned: bodies.length,
    json: `[${texts.join()}]`,
    next,
    total: undefined,
    index: index.name,
  }

  function positionOfLast(): Position | 'unknown' {
    const body = bodies.at(-1)
    invariant(body !== undefined, 'a page with a next one has documents')
    const last = parseFields(body, reads)
    if (last === undefined) return 'unknown'
    const id = valueAt(last, ['id'])
    invariant(typeof id === 'string', 'a document contains its id')
    return positionOf(last, id, sort)
  }
}
