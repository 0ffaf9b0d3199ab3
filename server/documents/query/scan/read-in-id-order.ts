import type { CollectionRef } from '../../../storage/document-ref.ts'
import { planQuery } from '../../indexes/plan.ts'
import { readByIndex } from '../../indexes/read/read-by-index.ts'
import { createMatcher, type Filter } from '../filter.ts'
import type { PageQuery } from '../page-query.ts'
import { type Page, type ReadPageDeps, readPage, type ScanBounds } from './read-page.ts'
import { INDEXED_READ } from './scan-limit.ts'

/** Returns documents that match, in id order after an id. */
export type ReadInIdOrder = (
  where: CollectionRef,
  filter: Filter,
  after: string | undefined,
  limit: number,
  bounds?: ScanBounds,
) => Promise<Page>

/**
 * Returns the {@link ReadInIdOrder} of a repository. It reads by an index if that takes at most
 * {@link INDEXED_READ} entries, and otherwise by a scan within the bounds.
 */
export function createReadInIdOrder(deps: ReadPageDeps): ReadInIdOrder {
  const { repository, nextTurn } = deps
  const { indexes: reader } = repository

  async function readFewEntries(
    where: CollectionRef,
    filter: Filter,
    query: PageQuery,
    { upTo, reserve = () => undefined, check }: ScanBounds,
  ): Promise<Page | undefined> {
    if (filter.length === 0) return undefined
    const plan = planQuery(await reader.ready(where), { filter, sort: [], count: false })
    if (plan === undefined) return undefined
    const checkEntries = async (entries: number, bytes: number) => {
      check?.()
      if (entries > INDEXED_READ.entries || bytes > INDEXED_READ.bytes) throw new TooManyEntries()
    }
    try {
      const bounds = { reserve, check: checkEntries, upTo }
      return await readByIndex({ reader, nextTurn }, where, plan, query, bounds)
    } catch (error) {
      if (error instanceof TooManyEntries) return undefined
      throw error
    }
  }

  return async (where, filter, after, limit, bounds = {}) => {
    const query = inIdOrder(filter, after, limit)
    const found = await readFewEntries(where, filter, query, bounds)
    return found ?? readPage(deps, where, query, bounds)
  }
}

class TooManyEntries extends Error {}

/** Returns the query of a page in id order, of whole documents. */
const inIdOrder = (filter: Filter, after: string | undefined, limit: number): PageQuery => ({
  matches: filter.length === 0 ? undefined : createMatcher(filter),
  sort: [],
  fields: undefined,
  limit,
  from: after === undefined ? undefined : { values: [], id: after },
  count: false,
})
