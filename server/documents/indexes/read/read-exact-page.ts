import { invariant } from '../../../contract/invariant.ts'
import type { CollectionRef } from '../../../storage/document-ref.ts'
import type { Json } from '../../json/strict-json.ts'
import { type Position, positionOf, type Sort } from '../../query/order.ts'
import type { PageQuery } from '../../query/page-query.ts'
import type { Page } from '../../query/scan/read-page.ts'
import { createDocumentPrinter } from '../../query/select-fields.ts'
import { mayBeTruncated } from '../index-key.ts'
import type { IndexPlan } from '../plan.ts'
import type { IndexPart } from './index-reader.ts'
import type { IndexedPage, PageReader } from './page-reader.ts'
import { beginAfter } from './read-by-index.ts'

/**
 * Returns the page of a query that needs only an index: its ranges contain exactly the documents
 * that match, in the requested order. One statement then reads the page, and the documents are not
 * compared, and parsed only to select fields. The result is a promise only if the store is
 * asynchronous.
 *
 * Returns undefined for other queries, and if a document is large or the index was dropped.
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
  if (reader.mayReserve && index.isUnique) return undefined
  const [first, other, ...more] = partsOf(plan, query) ?? []
  if (first === undefined || more.length > 0) return undefined
  // The parts of one stream follow each other. Those of two streams would have to be merged.
  const isSequence = plan.streams.length === 1

  function accept(found: IndexedPage | undefined): ReturnType<typeof readExactPage> {
    if (found === undefined) return undefined
    if (other === undefined || !found.hasOther) return toPage(plan, query, found)
    if (found.scanned === 0) return read(other, undefined)
    return isSequence && found.scanned > limit ? toPage(plan, query, found) : undefined
  }
  function read(part: IndexPart, otherPart: IndexPart | undefined) {
    const reading = reader.page(where, index, part, otherPart, limit)
    return reading instanceof Promise ? reading.then(accept) : accept(reading)
  }
  return read(first, other)
}

/** Returns the parts of the index to read; undefined if the position to begin after is unknown. */
function partsOf(plan: IndexPlan, query: PageQuery): IndexPart[] | undefined {
  const { streams } = plan
  const from = query.from && beginAfter(plan, query, query.from)
  if (from === 'unknown' || streams.length > 2) return undefined
  // `year=2000` matches a number and a string. Numbers are more common, so they are read first.
  return streams.toReversed().flatMap(({ prefix, ranges }) => {
    if (from === undefined) return ranges.map(({ lower, upper }) => ({ key: lower, id: '', upper }))
    const begin = Buffer.concat([prefix, from.rest])
    return ranges
      .filter(({ upper }) => Buffer.compare(begin, upper) < 0)
      .map(({ lower, upper }) =>
        Buffer.compare(begin, lower) < 0
          ? { key: lower, id: '', upper }
          : { key: begin, id: from.id, upper },
      )
  })
}

function toPage(
  { index }: IndexPlan,
  { sort, fields, limit }: PageQuery,
  { isReady, bodies, longestKey, scanned, tags }: IndexedPage,
): Page | undefined {
  // The order of documents with the same truncated key is unknown, and they may not match.
  if (!isReady || mayBeTruncated(longestKey, index.fields.length)) return undefined
  const textOf = createDocumentPrinter(fields)
  const texts = fields === undefined ? bodies : bodies.map((body) => textOf(body, parse(body)))
  return {
    ...{ tags, scanned },
    returned: bodies.length,
    json: `[${texts.join()}]`,
    next: scanned > limit ? positionOfLast(bodies, sort) : undefined,
    total: undefined,
    index: index.name,
  }
}

function positionOfLast(bodies: readonly string[], sort: Sort): Position {
  const body = bodies.at(-1)
  invariant(body !== undefined, 'a page with a next one has documents')
  const last = parse(body)
  return positionOf(last, last.id, sort)
}

const parse = (body: string) => JSON.parse(body) as { readonly id: string } & Json
