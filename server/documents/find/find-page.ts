import { nextTurn } from '../../concurrency/turns.ts'
import { PAGE } from '../../contract/document.ts'
import type { CollectionRef } from '../../storage/document-ref.ts'
import type { IndexDefinition } from '../indexes/definition.ts'
import { type IndexPlan, planQuery } from '../indexes/plan.ts'
import type { EntryPosition } from '../indexes/read/index-reader.ts'
import type { ReadyIndexes } from '../indexes/ready-indexes.ts'
import { isPlanned, type PageQuery } from '../query/query.ts'
import type { DocumentRepository } from '../repository/stored-documents.ts'
import { withAdvice } from './advise.ts'
import { idsOf, readByIds } from './read-by-ids.ts'
import { readByIndex } from './read-by-index.ts'
import { readExactPage } from './read-exact-page.ts'
import { type Page, readPage } from './read-page.ts'
import type { IndexStep, ScanLimit, ScanStep } from './scan-limit.ts'

interface FindPageDeps {
  readonly repository: DocumentRepository
  readonly readyIndexes: ReadyIndexes
  readonly scans: ScanLimit
}

/** Bounds of a query. */
export interface FindBounds {
  /** Reserves bytes for the page before it is read. Returns a promise only if it has to wait. */
  readonly reserve: (bytes: number) => Promise<void> | undefined
  /**
   * Returns the signal that is aborted when the client disconnects. Called by long queries only, once
   * the caller has the permission.
   */
  readonly signal: () => AbortSignal
  /**
   * Resolved once the caller has the permission. Awaited before more than one page of an index is
   * read; {@link reserve} has to await it too. By default the caller has the permission.
   */
  readonly permission?: Promise<void>
}

/** Returns a page; see `Documents.find`. */
export type FindPage = (
  where: CollectionRef,
  query: PageQuery,
  bounds: FindBounds,
) => Page | Promise<Page>

/**
 * Reads a page by an index if one serves the query, and otherwise by a scan. The result is a
 * promise unless the store is synchronous and the query needs only an index.
 */
export function createFindPage(deps: FindPageDeps): FindPage {
  const { repository, readyIndexes, scans } = deps
  const { indexes: reader } = repository

  /** Counts the documents that match; undefined if they have to be read. */
  async function countMatches(
    where: CollectionRef,
    query: PageQuery,
    { permission, signal }: FindBounds,
  ): Promise<number | undefined> {
    await permission
    const ready = isPlanned(query) ? await readyIndexes.read(where) : []
    const plan = planQuery(ready, { ...query, count: false })
    if (isPlanned(query) && !(plan && isCountable(plan))) return undefined
    return scans.runIndexed(signal(), (step) => {
      const counting = { ...deps, step }
      return plan ? countEntries(counting, where, plan) : countDocuments(counting, where)
    })
  }

  const findCounted: FindPage = async (where, query, bounds) => {
    const total = await countMatches(where, query, bounds)
    if (total === undefined) return find(where, query, bounds)
    const page = await find(where, { ...query, count: false }, bounds)
    return { ...page, total, scanned: Math.max(total, page.scanned) }
  }

  const find: FindPage = (where, query, bounds) => {
    if (!isPlanned(query)) return readUnplanned(where, query, bounds)
    const ids = idsOf(query.conditions)
    if (ids !== undefined) return readListed(where, ids, query, bounds)
    // A page is read with cached indexes only if one of them answers the query alone: the
    // statement checks that it is still ready, and no index that has become ready since would be
    // better.
    const known = readyIndexes.cached(where)
    const exact = known && readExact(where, planQuery(known, query), query)
    if (!(exact instanceof Promise)) return readAsReady(where, query, bounds)
    return exact.then((page) =>
      page === undefined ? readAsReady(where, query, bounds, known) : reserved(page, bounds),
    )
  }

  /** Reads a page in the order of ids, or counts all documents by reading them. */
  function readUnplanned(
    where: CollectionRef,
    query: PageQuery,
    bounds: FindBounds,
  ): Page | Promise<Page> {
    if (query.count) return readLong(where, query, bounds, undefined)
    // The limit of a page counts selected fields.
    if (query.fields !== undefined) return readUnbounded(where, query, bounds)
    return readPage(deps, where, query, { reserve: bounds.reserve })
  }

  function readExact(where: CollectionRef, plan: IndexPlan | undefined, query: PageQuery) {
    return plan && readExactPage(reader, where, plan, query)
  }

  /** @param tried indexes that were tried already, and cannot answer the query alone. */
  function readAsReady(
    where: CollectionRef,
    query: PageQuery,
    bounds: FindBounds,
    tried?: readonly IndexDefinition[],
  ): Page | Promise<Page> {
    const reading = readyIndexes.read(where)
    return reading instanceof Promise ? reading.then(read) : read(reading)

    function read(ready: readonly IndexDefinition[]): Page | Promise<Page> {
      const plan = planQuery(ready, query)
      const isTried = tried !== undefined && areSame(tried, ready)
      const page = isTried ? undefined : readExact(where, plan, query)
      return page instanceof Promise ? page.then(accept) : accept(page)

      function accept(found: Page | undefined): Page | Promise<Page> {
        return found === undefined ? readLong(where, query, bounds, plan) : reserved(found, bounds)
      }
    }
  }

  /** Reads a page in the order of ids whose limit does not bound the documents that are read. */
  async function readUnbounded(
    where: CollectionRef,
    query: PageQuery,
    { reserve, permission, signal }: FindBounds,
  ): Promise<Page> {
    await permission
    return scans.runIndexed(signal(), (indexStep) => {
      let steps = 0
      // A batch takes two steps, so the second batch needs a slot.
      const step: ScanStep = (read) => indexStep(PAGE.max * steps++, 0, read)
      return readPage(deps, where, query, { reserve, step })
    })
  }

  /** Reads a page of documents whose ids are known. */
  async function readListed(
    where: CollectionRef,
    ids: readonly string[],
    query: PageQuery,
    { reserve, permission, signal }: FindBounds,
  ): Promise<Page> {
    await permission
    return scans.runIndexed(signal(), (step) =>
      readByIds(deps, where, ids, query, { reserve, step }),
    )
  }

  /** Reads a page whose documents have to be matched or sorted. */
  async function readLong(
    where: CollectionRef,
    query: PageQuery,
    bounds: FindBounds,
    planned: IndexPlan | undefined,
  ): Promise<Page> {
    const { reserve } = bounds
    await bounds.permission
    const signal = bounds.signal()
    /** Reads a page by an index; undefined without one, or if it can no longer serve queries. */
    const readPlanned = async (plan: IndexPlan | undefined): Promise<Page | undefined> =>
      plan &&
      scans.runIndexed(signal, (step) =>
        readByIndex({ reader }, where, plan, query, { reserve, step }),
      )
    try {
      return (
        (await readPlanned(planned)) ??
        (await scans.run(signal, (step) => readPage(deps, where, query, { reserve, step })))
      )
    } catch (error) {
      throw withAdvice(error, query, cheaperQuery(query))
    }
  }

  return (where, query, bounds) =>
    query.count ? findCounted(where, query, bounds) : find(where, query, bounds)
}

function reserved(page: Page, { reserve }: FindBounds): Page | Promise<Page> {
  const waiting = reserve(sizeOf(page))
  return waiting === undefined ? page : waiting.then(() => page)
}

/** Returns how to ask for fewer documents than a query reads; undefined for sorted queries. */
function cheaperQuery({ sort, fields, count }: PageQuery): string | undefined {
  if (count) return 'Without Prefer: count=exact, it reads fewer documents.'
  if (sort.length > 0) return undefined
  if (fields !== undefined) return 'Begin after an id with after.'
  return 'Begin after an id with after, or request a job with the header Prefer: respond-async.'
}

const areSame = (some: readonly IndexDefinition[], others: readonly IndexDefinition[]) =>
  some.length === others.length && some.every(({ id }, at) => id === others[at]?.id)

const sizeOf = ({ json }: Page) =>
  typeof json === 'string'
    ? Buffer.byteLength(json)
    : json.reduce((sum, { length }) => sum + length, 0)

interface CountDeps {
  readonly repository: DocumentRepository
  /** Runs each statement. */
  readonly step: IndexStep
}

/**
 * Returns whether the entries of a plan are exactly the documents that match, so that
 * {@link countEntries} can count them without reading documents.
 */
const isCountable = ({ isExact, isOrdered }: IndexPlan): boolean => isExact && isOrdered

/** Returns the number of entries of a plan; undefined if its index was dropped. */
async function countEntries(
  { repository: { indexes: reader }, step }: CountDeps,
  where: CollectionRef,
  { index, streams }: IndexPlan,
): Promise<number | undefined> {
  let total = 0
  for (const { lower, upper } of streams.flatMap(({ ranges }) => ranges)) {
    let after: EntryPosition | undefined = { key: lower, id: '' }
    while (after !== undefined) {
      const begin: EntryPosition = after
      const { count, last } = await step(total, 0, () => reader.count(index, { ...begin, upper }))
      total += count
      after = last
      if (last !== undefined) await nextTurn()
    }
  }
  return (await reader.isReady(where, index)) ? total : undefined
}

/** Returns the number of documents of a collection; undefined if they have to be read. */
async function countDocuments(
  { repository, step }: CountDeps,
  where: CollectionRef,
): Promise<number | undefined> {
  let total = 0
  let after: string | undefined = ''
  while (after !== undefined) {
    const begin: string = after
    const counted = await step(total, 0, () => repository.count(where, begin))
    if (counted === undefined) return undefined
    total += counted.count
    after = counted.last
    if (after !== undefined) await nextTurn()
  }
  return total
}
