import type { NextTurn } from '../../concurrency/turns.ts'
import type { Caller } from '../../concurrency/work-queue.ts'
import { PAGE } from '../../contract/document.ts'
import { requireConnected } from '../../failure.ts'
import type { CollectionRef } from '../../storage/document-ref.ts'
import { withAdvice } from '../indexes/advise.ts'
import type { IndexDefinition } from '../indexes/definition.ts'
import { type IndexPlan, planQuery } from '../indexes/plan.ts'
import { readByIndex } from '../indexes/read/read-by-index.ts'
import { readExactPage } from '../indexes/read/read-exact-page.ts'
import type { ReadyIndexes } from '../indexes/ready-indexes.ts'
import type { DocumentRepository } from '../repository/stored-documents.ts'
import { countDocuments, countEntries, isCountable } from './count-matches.ts'
import type { Filter } from './filter.ts'
import type { PageQuery } from './page-query.ts'
import { isPlanned } from './query.ts'
import { idsOf, readByIds } from './scan/read-by-ids.ts'
import { type Page, readPage } from './scan/read-page.ts'
import type { ScanLimit, ScanStep } from './scan/scan-limit.ts'

/** Maximum time that a query waits for an index while a large change is applied, ms. */
const INDEX_WAIT = 10_000

interface FindPageDeps {
  readonly repository: DocumentRepository
  readonly readyIndexes: ReadyIndexes
  readonly nextTurn: NextTurn
  readonly scans: ScanLimit
  /** {@link INDEX_WAIT} by default. */
  readonly indexWait?: number
}

/** Bounds of a query. */
export interface FindBounds {
  /** Reserves bytes for the page before it is read. Returns a promise only if it has to wait. */
  readonly reserve: (bytes: number) => Promise<void> | undefined
  /** Returns the caller. Called by long queries only, once the caller has the permission. */
  readonly caller: () => Caller
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
  filter: Filter,
  bounds: FindBounds,
) => Page | Promise<Page>

/**
 * Reads a page by an index if one serves the query, and otherwise by a scan. The result is a
 * promise unless the store is synchronous and the query needs only an index.
 */
export function createFindPage(deps: FindPageDeps): FindPage {
  const { repository, readyIndexes, nextTurn, scans, indexWait = INDEX_WAIT } = deps
  const { indexes: reader } = repository

  /**
   * Waits until a large change is applied to a collection, for at most {@link INDEX_WAIT}: a scan
   * would take longer and delay the change.
   *
   * @throws Failure `busy` if the client disconnects
   */
  async function waitForChange(where: CollectionRef, signal: AbortSignal): Promise<void> {
    try {
      const timeout = AbortSignal.timeout(indexWait)
      await repository.whenApplied(where, AbortSignal.any([signal, timeout]))
    } catch {
      // The time is over, or a step of the change failed: the query is served by a scan.
    }
    requireConnected(signal)
  }

  /** Counts the documents that match; undefined if they have to be read. */
  async function countMatches(
    where: CollectionRef,
    query: PageQuery,
    filter: Filter,
    { permission, caller }: FindBounds,
  ): Promise<number | undefined> {
    await permission
    const ready = isPlanned(query) ? await readyIndexes.read(where) : []
    const plan = planQuery(ready, { filter, sort: query.sort, count: false })
    if (isPlanned(query) && !(plan && isCountable(reader, plan))) return undefined
    return scans.runIndexed(caller(), (step) => {
      const counting = { ...deps, step }
      return plan ? countEntries(counting, where, plan) : countDocuments(counting, where)
    })
  }

  const findCounted: FindPage = async (where, query, filter, bounds) => {
    const total = await countMatches(where, query, filter, bounds)
    if (total === undefined) return find(where, query, filter, bounds)
    const page = await find(where, { ...query, count: false }, filter, bounds)
    return { ...page, total, scanned: Math.max(total, page.scanned) }
  }

  const find: FindPage = (where, query, filter, bounds) => {
    const { sort, fields, count } = query
    if (!isPlanned(query)) {
      if (count) return readLong(undefined)
      // The limit of a page counts selected fields, and a large change that is being written may have
      // deleted many documents.
      const isBounded = fields === undefined && reader.isApplied(where)
      if (!isBounded) return readUnbounded()
      return readPage(deps, where, query, { reserve: bounds.reserve })
    }
    const ids = idsOf(filter)
    if (ids !== undefined) return readListed(ids)
    // A page is read with cached indexes only if one of them answers the query alone: the
    // statement checks that it is still ready, and no index that has become ready since would be
    // better.
    const known = readyIndexes.cached(where)
    const exact = known && readExact(planOf(known))
    if (!(exact instanceof Promise)) return readAsReady()
    return exact.then((page) => (page === undefined ? readAsReady(known) : reserved(page)))

    function planOf(ready: readonly IndexDefinition[]): IndexPlan | undefined {
      return planQuery(ready, { filter, sort, count })
    }
    function readExact(plan: IndexPlan | undefined) {
      return plan && readExactPage(reader, where, plan, query)
    }
    function reserved(page: Page): Page | Promise<Page> {
      const waiting = bounds.reserve(sizeOf(page))
      return waiting === undefined ? page : waiting.then(() => page)
    }

    /** @param tried indexes that were tried already, and cannot answer the query alone. */
    function readAsReady(tried?: readonly IndexDefinition[]): Page | Promise<Page> {
      const reading = readyIndexes.read(where)
      return reading instanceof Promise ? reading.then(read) : read(reading)

      function read(ready: readonly IndexDefinition[]): Page | Promise<Page> {
        const plan = planOf(ready)
        const isTried = tried !== undefined && areSame(tried, ready)
        const page = isTried ? undefined : readExact(plan)
        return page instanceof Promise ? page.then(accept) : accept(page)

        function accept(found: Page | undefined): Page | Promise<Page> {
          return found === undefined ? readLong(plan) : reserved(found)
        }
      }
    }

    /** Plans a query again that no index serves while a large change is applied. */
    async function planOnceApplied({ signal }: Caller): Promise<IndexPlan | undefined> {
      if (reader.isApplied(where)) return undefined
      if (planOf(await reader.readyOnceApplied(where)) === undefined) return undefined
      await waitForChange(where, signal)
      return planOf(await readyIndexes.read(where))
    }

    /** Reads a page in the order of ids whose limit does not bound the documents that are read. */
    async function readUnbounded(): Promise<Page> {
      const { reserve } = bounds
      await bounds.permission
      return scans.runIndexed(bounds.caller(), (indexStep) => {
        let steps = 0
        // A batch takes two steps, so the second batch needs a slot.
        const step: ScanStep = (read) => indexStep(PAGE.max * steps++, 0, read)
        return readPage(deps, where, query, { reserve, step })
      })
    }

    /** Reads a page of documents whose ids are known. */
    async function readListed(ids: readonly string[]): Promise<Page> {
      const { reserve } = bounds
      await bounds.permission
      return scans.runIndexed(bounds.caller(), (step) =>
        readByIds(deps, where, ids, query, { reserve, step }),
      )
    }

    /** Reads a page whose documents have to be matched or sorted. */
    async function readLong(planned: IndexPlan | undefined): Promise<Page> {
      const { reserve } = bounds
      await bounds.permission
      const caller = bounds.caller()
      try {
        return (
          (await readPlanned(planned, caller)) ??
          (await readPlanned(await planOnceApplied(caller), caller)) ??
          (await scans.run(caller, (step) => readPage(deps, where, query, { reserve, step })))
        )
      } catch (error) {
        throw withAdvice(error, { filter, sort }, cheaperQuery(query))
      }
    }

    /** Reads a page by an index; undefined without one, or if it can no longer serve queries. */
    async function readPlanned(
      plan: IndexPlan | undefined,
      caller: Caller,
    ): Promise<Page | undefined> {
      const { reserve } = bounds
      return (
        plan &&
        scans.runIndexed(caller, (step) =>
          readByIndex({ reader, nextTurn }, where, plan, query, { reserve, step }),
        )
      )
    }
  }

  return (where, query, filter, bounds) =>
    query.count ? findCounted(where, query, filter, bounds) : find(where, query, filter, bounds)
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
