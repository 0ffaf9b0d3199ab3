import { createTimeSlice, nextTurn } from '../../concurrency/turns.ts'
import { Failure } from '../../failure.ts'
import { portionsOf } from '../../storage/changes/portions.ts'
import type { CollectionRef } from '../../storage/document-ref.ts'
import type { IdRange } from '../../storage/sql/id-range.ts'
import { adviseFields } from '../find/advise.ts'
import { isOrderUnknown } from '../find/entry-documents.ts'
import { EntryStream, mergeStreams } from '../find/entry-stream.ts'
import { idsOf } from '../find/read-by-ids.ts'
import type { IndexPlan } from '../indexes/plan.ts'
import { type RequiredTexts, requiredTexts } from '../query/filter.ts'
import { isIdOrder, type Position, positionOf } from '../query/order.ts'
import type { ExportQuery } from '../query/query.ts'
import { BATCH_BYTES } from '../repository/scan-batch.ts'
import {
  type Batches,
  createDocumentParser,
  type MatchingDocument,
  type ReadMatchingDeps,
} from './matching-document.ts'
import type { DocumentSize } from './snapshot-reader.ts'
import { collectPositions, SORT_LIMITS, type SortLimits } from './sort-positions.ts'

/** Number of entries of an index that are read together. */
const ENTRIES = 500

/**
 * Returns the documents of a snapshot that match, in the requested order, some at a time.
 *
 * @param plan how an index serves the query; undefined for a scan.
 * @throws Failure `query-too-expensive` if too many documents have to be sorted.
 */
export async function* readMatching(
  deps: ReadMatchingDeps,
  where: CollectionRef,
  query: ExportQuery,
  plan: IndexPlan | undefined,
  limits: SortLimits = SORT_LIMITS,
): Batches {
  let after: Position | undefined
  if (plan?.isOrdered) {
    const stopped = yield* readOrdered(deps, where, query, plan)
    if (stopped === undefined) return
    after = stopped.after
  } else if (plan === undefined && isIdOrder(query.sort)) {
    yield* scan(deps, where, query)
    return
  }
  const candidates =
    plan === undefined ? scan(deps, where, query) : readAll(deps, where, query, plan)
  const positions = await collectPositions(candidates, query, after, limits)
  if (positions !== undefined) yield* readSized(deps, where, positions)
  else if (!isIdOrder(query.sort)) throw tooManyToSort(query, limits.documents)
  // The documents are read in the order of ids without the index instead.
  else yield* scan(deps, where, query, after?.id)
}

/**
 * Reads the documents that match without an index, in the order of ids or in the opposite one, after
 * an id.
 */
async function* scan(
  deps: ReadMatchingDeps,
  where: CollectionRef,
  query: ExportQuery,
  after?: string,
): Batches {
  const { matches, conditions, sort } = query
  const parse = createDocumentParser(query)
  const timeSlice = createTimeSlice()
  const isDescending = isIdOrder(sort) && sort[0]?.isDescending === true
  const ids = idsOf(conditions)
  const documents =
    ids === undefined
      ? readCollection(deps, where, { after, isDescending }, requiredTexts(conditions))
      : readListed(deps, where, isDescending ? ids.toReversed() : ids)
  for await (const some of documents) {
    if (matches === undefined) {
      yield some
      await nextTurn()
      continue
    }
    const found: MatchingDocument[] = []
    for (const { id, body } of some) {
      const turn = timeSlice()
      if (turn !== undefined) await turn
      const parsed = parse(body)
      if (parsed === undefined) {
        query.onDamaged?.(id)
        continue
      }
      const matched = matches(parsed)
      if (typeof matched === 'boolean' ? matched : await matched) found.push({ id, body, parsed })
    }
    if (found.length > 0) yield found
    await nextTurn()
  }
}

async function* readCollection(
  { reader, check }: ReadMatchingDeps,
  where: CollectionRef,
  range: IdRange,
  required: RequiredTexts,
): Batches {
  check()
  for await (const documents of reader.read(where, range, required)) {
    yield documents
    check()
  }
}

/** Reads the documents with these ids, in their order. */
async function* readListed(
  deps: ReadMatchingDeps,
  where: CollectionRef,
  ids: readonly string[],
): Batches {
  for (let at = 0; at < ids.length; at += READ_BATCH) {
    deps.check()
    const sizes = await deps.reader.sizes(where, ids.slice(at, at + READ_BATCH))
    yield* readSized(deps, where, sizes)
  }
}

/** Reads the entries of a plan, one stream after the other. */
async function* readAll(
  deps: ReadMatchingDeps,
  where: CollectionRef,
  query: ExportQuery,
  plan: IndexPlan,
): Batches {
  const { indexes } = deps.reader
  for (const each of plan.streams) {
    yield* readStreams(deps, where, query, plan, [
      new EntryStream(indexes, where, plan.index, each, false),
    ])
  }
}

/**
 * Reads the entries of a plan in the order of the query. Stops before a document whose position is
 * unknown, because its key is truncated, and returns the position of the document before it.
 */
async function* readOrdered(
  deps: ReadMatchingDeps,
  where: CollectionRef,
  query: ExportQuery,
  plan: IndexPlan,
): AsyncGenerator<
  readonly MatchingDocument[],
  { readonly after: Position | undefined } | undefined
> {
  const { indexes } = deps.reader
  const streams = plan.streams.map(
    (each) => new EntryStream(indexes, where, plan.index, each, plan.isReversed),
  )
  let after: Position | undefined
  for await (const found of readStreams(deps, where, query, plan, streams)) {
    const firstUnknown = found.findIndex(({ parsed }) => isOrderUnknown(plan, parsed ?? null))
    const some = firstUnknown === -1 ? found : found.slice(0, firstUnknown)
    const last = some.at(-1)
    if (last !== undefined) {
      after = positionOf(last.parsed ?? null, last.id, query.sort)
      yield some
    }
    if (firstUnknown !== -1) return { after }
  }
  return undefined
}

/** Reads the documents of streams of entries that match, in the order of the streams. */
async function* readStreams(
  { reader, check }: ReadMatchingDeps,
  where: CollectionRef,
  query: ExportQuery,
  plan: IndexPlan,
  streams: readonly EntryStream[],
): Batches {
  const { matches } = query
  const parse = createDocumentParser(query, plan)
  const timeSlice = createTimeSlice()
  for (;;) {
    check()
    const entries = await mergeStreams(streams, ENTRIES)
    if (entries.length === 0) return
    for (const portion of portionsOf(entries, { bytes: BATCH_BYTES })) {
      check()
      const large = portion.rows.filter(({ document }) => document === undefined)
      const ids = large.map(({ id }) => id)
      const documents = ids.length === 0 ? undefined : await reader.indexes.documents(where, ids)
      const found: MatchingDocument[] = []
      for (const entry of portion.rows) {
        const { id, document } = entry
        const turn = timeSlice()
        if (turn !== undefined) await turn
        const { body } = document ?? documents?.get(id) ?? {}
        if (body === undefined) continue
        const parsed = parse(body)
        if (parsed === undefined) {
          query.onDamaged?.(id)
          continue
        }
        const matched = matches?.(parsed) ?? true
        if (typeof matched === 'boolean' ? matched : await matched) found.push({ id, body, parsed })
      }
      if (found.length > 0) yield found
      await nextTurn()
    }
  }
}

function tooManyToSort(query: ExportQuery, max: number): Failure {
  const fields = adviseFields(query)
  return new Failure(
    'query-too-expensive',
    `More than ${max.toLocaleString('en')} documents would have to be sorted. ` +
      `Omit sort, or create an index on ${fields?.join(', ')}.`,
    { field: 'sort', ...(fields && { fields }) },
  )
}

/** Number of documents that are read together, if they are small. */
const READ_BATCH = 500

/** Reads documents of known sizes, in their order. Large ones are read one by one. */
async function* readSized(
  { reader, check }: ReadMatchingDeps,
  where: CollectionRef,
  sizes: Iterable<DocumentSize>,
): Batches {
  let some: DocumentSize[] = []
  for (const each of sizes) {
    if (some.push(each) < READ_BATCH) continue
    yield* read(some)
    some = []
  }
  yield* read(some)

  async function* read(some: readonly DocumentSize[]): Batches {
    for (const { rows } of portionsOf(some, { bytes: BATCH_BYTES })) {
      check()
      const ids = rows.map(({ id }) => id)
      const documents = await reader.indexes.documents(where, ids)
      yield ids.flatMap((id) => documents.get(id) ?? [])
      await nextTurn()
    }
  }
}
