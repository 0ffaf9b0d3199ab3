import { createTimeSlice, nextTurn } from '../../concurrency/turns.ts'
import { PAGE, PAGE_BYTES } from '../../contract/document.ts'
import { compareCodePoints } from '../../contract/query/compare-code-points.ts'
import { printFieldPath } from '../../contract/query/field-path.ts'
import { portionsOf } from '../../storage/changes/portions.ts'
import type { CollectionRef } from '../../storage/document-ref.ts'
import { keyOfValues, mayBeTruncated } from '../indexes/index-key.ts'
import type { IndexPlan } from '../indexes/plan.ts'
import type { IndexEntry, IndexReader } from '../indexes/read/index-reader.ts'
import { type Position, positionOf } from '../query/order.ts'
import type { PageQuery } from '../query/query.ts'
import { createDocumentPrinter } from '../query/select-fields.ts'
import { BATCH_BYTES } from '../repository/scan-batch.ts'
import { currentOf, isOrderUnknown, namesOf, readDocuments } from './entry-documents.ts'
import { EntryStream, mergeStreams, type StreamPosition } from './entry-stream.ts'
import { JsonArray, type Page, toSortedPage } from './read-page.ts'
import type { IndexStep } from './scan-limit.ts'
import { SortedMatches } from './sorted-matches.ts'

interface ReadByIndexDeps {
  readonly reader: IndexReader
}

interface IndexBounds {
  /** Awaited with the maximum size of the page, bytes, before it is read. */
  readonly reserve: (bytes: number) => Promise<void> | undefined
  /** Runs each batch. */
  readonly step: IndexStep
  /** The last id to return; only in id order. */
  readonly upTo?: string | undefined
}

/**
 * Returns a page of documents that match, read by an index. It begins in the current turn of the
 * event loop, and waits for another one before each further batch. Returns undefined if the index cannot
 * serve the query: it was dropped, or long strings are truncated in it and their order is unknown.
 */
export function readByIndex(
  deps: ReadByIndexDeps,
  where: CollectionRef,
  plan: IndexPlan,
  query: PageQuery,
  bounds: IndexBounds,
): Promise<Page | undefined> {
  return plan.isOrdered
    ? readOrdered(deps, where, plan, query, bounds)
    : readUnordered(deps, where, plan, query, bounds)
}

type ReadPage = typeof readByIndex

/** Reads entries in the requested order until the page is complete. */
const readOrdered: ReadPage = async ({ reader }, where, plan, query, bounds) => {
  const { reserve, step, upTo } = bounds
  const { sort, fields, limit, from } = query
  const begin = from && beginAfter(plan, query, from)
  if (begin === 'unknown') return undefined
  const streams = plan.streams.map(
    (stream) => new EntryStream(reader, where, plan.index, stream, plan.isReversed, begin),
  )
  const textOf = createDocumentPrinter(fields)
  const parsedQuery = { ...query, reads: namesOf(plan, query) }
  const documents = new Map<string, string>()
  const json = new JsonArray()
  let last: Position | undefined
  let bytes = 0
  let scanned = 0
  let read = 0
  const pageOf = (next: Position | undefined): Page => ({
    returned: documents.size,
    tags: [...documents.values()].join('\n'),
    json: json.print(),
    next,
    total: undefined,
    scanned,
    index: plan.index.name,
  })
  const isPast = ({ id }: IndexEntry) => upTo !== undefined && compareCodePoints(id, upTo) > 0
  // One of several streams may have ended because the index was dropped.
  const isComplete = async () => streams.length === 1 || reader.isReady(where, plan.index)
  /** Adds the documents that match. Returns the result of the query if it needs no more entries. */
  async function add(
    entries: readonly IndexEntry[],
  ): Promise<{ page: Page | undefined } | undefined> {
    const found = await readDocuments(reader, where, plan, entries)
    if (found === undefined) return { page: undefined }
    const timeSlice = createTimeSlice()
    for (const entry of entries) {
      const turn = timeSlice()
      if (turn !== undefined) await turn
      if (isPast(entry)) return { page: (await isComplete()) ? pageOf(undefined) : undefined }
      const current = currentOf(plan, parsedQuery, entry, found)
      if (current === undefined || documents.has(entry.id)) continue
      const isLong = mayBeTruncated(entry.key.length, plan.index.fields.length)
      if (isLong && isOrderUnknown(plan, current.parsed)) return { page: undefined }
      const { parsed } = current
      const matched = query.matches?.(parsed) ?? true
      if (!(typeof matched === 'boolean' ? matched : await matched)) continue
      const text = textOf(current.body)
      if (text === undefined) {
        query.onDamaged?.(entry.id)
        continue
      }
      const more = Buffer.byteLength(text)
      if (documents.size === limit || (documents.size > 0 && bytes + more > PAGE_BYTES)) {
        return { page: (await isComplete()) ? pageOf(last) : undefined }
      }
      bytes += more
      documents.set(current.id, current.tag)
      json.add(text)
      last = positionOf(parsed, current.id, sort)
    }
    json.encode()
    return undefined
  }
  for (let size = limit + 1; ; size = Math.min(PAGE.max, 2 * size)) {
    if (scanned > 0) await nextTurn()
    const entries = await step(scanned, read, () => mergeStreams(streams, size))
    if (entries.length === 0) {
      return (await reader.isReady(where, plan.index)) ? pageOf(undefined) : undefined
    }
    scanned += entries.length
    let isFirst = true
    for (const portion of portionsOf(entries, { bytes: BATCH_BYTES })) {
      // The documents of the first portion may have been read with their entries.
      if (!isFirst) await nextTurn()
      isFirst = false
      // Not part of a step, because it may wait for clients to read their responses.
      await reserve(bytes + portion.bytes)
      const ended = await step(scanned, read, () => add(portion.rows))
      if (ended !== undefined) return ended.page
      read += portion.bytes
    }
  }
}

/** Reads all entries and keeps the first documents in the requested order. */
const readUnordered: ReadPage = async ({ reader }, where, plan, query, bounds) => {
  const { reserve, step, upTo } = bounds
  const matches = new SortedMatches(query)
  const parsedQuery = { ...query, reads: namesOf(plan, query) }
  let scanned = 0
  let read = 0
  /** Adds the documents that match. Returns false if the entries may be incomplete. */
  async function add(entries: readonly IndexEntry[]): Promise<boolean> {
    const found = await readDocuments(reader, where, plan, entries)
    if (found === undefined) return false
    const timeSlice = createTimeSlice()
    for (const entry of entries) {
      const turn = timeSlice()
      if (turn !== undefined) await turn
      if (upTo !== undefined && compareCodePoints(entry.id, upTo) > 0) continue
      const current = currentOf(plan, parsedQuery, entry, found)
      const adding = current && matches.add(current)
      if (adding !== undefined) await adding
    }
    return true
  }
  for (const each of plan.streams) {
    const stream = new EntryStream(reader, where, plan.index, each, false)
    for (;;) {
      if (scanned > 0) await nextTurn()
      const entries = await step(scanned, read, () => stream.take(PAGE.max))
      if (entries.length === 0) break
      scanned += entries.length
      let isFirst = true
      for (const portion of portionsOf(entries, { bytes: BATCH_BYTES })) {
        if (!isFirst) await nextTurn()
        isFirst = false
        await reserve(matches.top.bytes + portion.bytes)
        if (!(await step(scanned, read, () => add(portion.rows)))) return undefined
        read += portion.bytes
      }
    }
  }
  if (!(await reader.isReady(where, plan.index))) return undefined
  const page = await toSortedPage(matches.top, reserve)
  const total = query.count ? matches.total : undefined
  return { ...page, total, scanned, index: plan.index.name }
}

/** Returns where the streams begin; `unknown` if the key of the position is truncated. */
export function beginAfter(
  { index, rest }: IndexPlan,
  { sort }: PageQuery,
  { values, id }: Position,
): StreamPosition | 'unknown' {
  const restValues = rest.map(({ path }) => {
    const name = printFieldPath(path)
    const at = sort.findIndex((each) => printFieldPath(each.path) === name)
    return at === -1 ? id : values[at]
  })
  const key = keyOfValues(restValues, rest, index.fields.length)
  return key.isTruncated ? 'unknown' : { rest: key.bytes, id }
}
