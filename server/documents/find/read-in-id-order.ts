import { compareCodePoints } from '../../contract/query/compare-code-points.ts'
import { requireConnected } from '../../failure.ts'
import type { CollectionRef } from '../../storage/document-ref.ts'
import { planQuery } from '../indexes/plan.ts'
import { type Condition, createMatcher, type Filter, parseFilter } from '../query/filter.ts'
import { namesRead, type PageQuery } from '../query/query.ts'
import { withAdvice } from './advise.ts'
import { idsOf, readByIds } from './read-by-ids.ts'
import { readByIndex } from './read-by-index.ts'
import { type Page, type ReadPageDeps, readPage, type ScanBounds } from './read-page.ts'
import { INDEXED_READ, type IndexStep, type ScanLimit } from './scan-limit.ts'

/** Bounds of one read in id order. */
export interface ReadBounds extends Omit<ScanBounds, 'step'> {
  /** No document up to this id is returned. */
  readonly begin?: string | undefined
  /** Aborted when the client disconnects; by default never. */
  readonly signal?: AbortSignal
}

/**
 * Returns documents that match, in id order after an id.
 *
 * @throws Failure `busy`, `query-too-expensive` if no index serves the filter; it advises one.
 */
export type ReadInIdOrder = (
  where: CollectionRef,
  filter: Filter,
  after: string | undefined,
  limit: number,
  bounds?: ReadBounds,
) => Promise<Page>

/**
 * Returns the {@link ReadInIdOrder} of a repository. It reads the documents whose ids the filter
 * lists, within the limits of a query by an index; or by an index, if that takes at most
 * {@link INDEXED_READ} entries; and otherwise by a scan within the bounds and the limits of scans.
 */
export function createReadInIdOrder(
  deps: ReadPageDeps & { readonly scans: ScanLimit },
): ReadInIdOrder {
  const { repository, scans } = deps
  const { indexes: reader } = repository

  function readListed(
    where: CollectionRef,
    ids: readonly string[],
    query: PageQuery,
    { upTo, reserve, signal = CONNECTED }: ReadBounds,
  ): Promise<Page> {
    const some = ids.filter((id) => upTo === undefined || compareCodePoints(id, upTo) <= 0)
    return scans.runIndexed(signal, (step) =>
      readByIds(deps, where, some, query, { reserve, step }),
    )
  }

  async function readFewEntries(
    where: CollectionRef,
    query: PageQuery,
    { upTo, reserve = () => undefined, signal = CONNECTED }: ReadBounds,
  ): Promise<Page | undefined> {
    const plan = planQuery(await reader.ready(where), query)
    if (plan === undefined) return undefined
    const step: IndexStep = async (entries, bytes, run) => {
      requireConnected(signal)
      if (entries > INDEXED_READ.entries || bytes > INDEXED_READ.bytes) throw new TooManyEntries()
      return run()
    }
    try {
      const bounds = { reserve, step, upTo }
      return await readByIndex({ reader }, where, plan, query, bounds)
    } catch (error) {
      if (error instanceof TooManyEntries) return undefined
      throw error
    }
  }

  return async (where, filter, after, limit, bounds = {}) => {
    const conditions = parseFilter(filter)
    const query = inIdOrder(conditions, later(after, bounds.begin), limit)
    if (filter.length === 0) return readPage(deps, where, query, bounds)
    const ids = idsOf(conditions)
    if (ids !== undefined) return readListed(where, ids, query, bounds)
    const found = await readFewEntries(where, query, bounds)
    if (found !== undefined) return found
    const { signal = CONNECTED } = bounds
    try {
      return await scans.run(signal, (step) => readPage(deps, where, query, { ...bounds, step }))
    } catch (error) {
      throw withAdvice(error, query)
    }
  }
}

/** The signal of a client that does not disconnect. */
const CONNECTED = new AbortController().signal

class TooManyEntries extends Error {}

const later = (one: string | undefined, other: string | undefined): string | undefined =>
  one === undefined || (other !== undefined && compareCodePoints(one, other) < 0) ? other : one

/** Returns the query of a page in id order, of whole documents. */
const inIdOrder = (
  conditions: readonly Condition[],
  after: string | undefined,
  limit: number,
): PageQuery => ({
  conditions,
  matches: conditions.length === 0 ? undefined : createMatcher(conditions),
  sort: [],
  fields: undefined,
  reads: namesRead({ conditions, sort: [] }),
  limit,
  from: after === undefined ? undefined : { values: [], id: after },
  count: false,
})
