import { invariant } from '../../../contract/invariant.ts'
import { valueAt } from '../../../contract/query/field-path.ts'
import type { CollectionRef } from '../../../storage/document-ref.ts'
import { parseFields } from '../../json/parse-fields.ts'
import { type Position, positionOf } from '../../query/order.ts'
import type { PageQuery } from '../../query/page-query.ts'
import type { Page } from '../../query/scan/read-page.ts'
import { createDocumentPrinter } from '../../query/select-fields.ts'
import { type KeyRange, mayBeTruncated } from '../index-key.ts'
import type { IndexPlan } from '../plan.ts'
import type { IndexPart, ReversedPart } from './index-reader.ts'
import { type IndexedPage, NO_PART, type PageReader } from './page-reader.ts'
import { beginAfter } from './read-by-index.ts'

/**
 * Returns the page of a query that needs only an index: its ranges contain exactly the documents
 * that match, in the requested order. One statement then reads the page, and the documents are not
 * compared and not parsed. The result is a promise only if the store is asynchronous.
 *
 * Returns undefined for other queries, if a document or its values to sort by are large, and if the
 * index was dropped.
 */
export function readExactPage(
  reader: PageReader,
  where: CollectionRef,
  plan: IndexPlan,
  query: PageQuery,
): Page | undefined | Promise<Page | undefined> {
  const { index, isExact, isOrdered } = plan
  const { limit, count } = query
  if (!isExact || !isOrdered || count) return undefined
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
  function read(part: IndexPart | ReversedPart, next: typeof other) {
    const reading = reader.page(where, index, part, next && rangeOf(next), limit)
    return reading instanceof Promise ? reading.then(accept) : accept(reading)
  }
  return read(first, other)
}

/** Returns the parts of the index to read; undefined if the position to begin after is unknown. */
function partsOf(plan: IndexPlan, query: PageQuery): (IndexPart | ReversedPart)[] | undefined {
  const { streams, isReversed } = plan
  const from = query.from && beginAfter(plan, query, query.from)
  if (from === 'unknown' || streams.length > 2) return undefined
  // Whether a reversed part has entries is known only if it begins with a range.
  if (isReversed && from !== undefined && streams.length > 1) return undefined
  // `year=2000` matches a number and a string. Numbers are more common, so they are read first.
  return streams.toReversed().flatMap<IndexPart | ReversedPart>(({ prefix, ranges }) => {
    const begin = from && { key: Buffer.concat([prefix, from.rest]), id: from.id }
    return isReversed ? reversedParts(ranges, begin) : forwardParts(ranges, begin)
  })
}

type Begin = { readonly key: Buffer; readonly id: string } | undefined

const forwardParts = (ranges: readonly KeyRange[], begin: Begin): IndexPart[] =>
  ranges
    .filter(({ upper }) => begin === undefined || Buffer.compare(begin.key, upper) < 0)
    .map(({ lower, upper }) =>
      begin === undefined || Buffer.compare(begin.key, lower) < 0
        ? { key: lower, id: '', upper }
        : { ...begin, upper },
    )

const reversedParts = (ranges: readonly KeyRange[], begin: Begin): ReversedPart[] =>
  ranges
    .toReversed()
    .filter(({ lower }) => begin === undefined || Buffer.compare(lower, begin.key) <= 0)
    .map(({ lower, upper }) =>
      begin === undefined || Buffer.compare(upper, begin.key) <= 0
        ? { after: NO_PART, lower, upper }
        : { after: begin, lower, upper: begin.key },
    )

const rangeOf = (part: IndexPart | ReversedPart): IndexPart =>
  'lower' in part ? { key: part.lower, id: '', upper: part.upper } : part

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
