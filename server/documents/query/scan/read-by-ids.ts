import type { Json } from '../../../contract/strict-json.ts'
import type { CollectionRef } from '../../../storage/document-ref.ts'
import { groupConditions } from '../../indexes/plan.ts'
import type { Filter } from '../filter.ts'
import { compareCodePoints } from '../order.ts'
import type { PageQuery } from '../page-query.ts'
import { type Page, type ReadPageDeps, type ScanBounds, toSortedPage } from './read-page.ts'
import type { IndexStep } from './scan-limit.ts'
import { SortedMatches } from './sorted-matches.ts'

/** Number of documents that are read together, of up to 1 MiB each. */
export const ID_BATCH = 16

/**
 * Returns the ids that documents must have to match a filter, in order; undefined if the filter
 * does not list them.
 */
export function idsOf(filter: Filter): readonly string[] | undefined {
  const lists = groupConditions(filter).get('id')?.equal ?? []
  const [ids] = lists.toSorted((one, other) => one.length - other.length)
  // No id contains U+0000, which PostgreSQL rejects.
  return ids?.filter((id) => !id.includes('\0')).toSorted(compareCodePoints)
}

/** Returns a page of the documents with these ids that match, in the requested order. */
export async function readByIds(
  { repository, nextTurn }: ReadPageDeps,
  where: CollectionRef,
  ids: readonly string[],
  query: PageQuery,
  { reserve, step }: Pick<ScanBounds, 'reserve'> & { readonly step: IndexStep },
): Promise<Page> {
  const matches = new SortedMatches(query)
  let scanned = 0
  let bytes = 0
  async function add(some: readonly string[]): Promise<void> {
    const found = await Promise.all(some.map((id) => repository.read({ ...where, id })))
    for (const each of found) {
      if (each === undefined) continue
      scanned++
      bytes += each.body.length
      const adding = matches.add({ ...each, parsed: JSON.parse(each.body) as Json })
      if (adding !== undefined) await adding
    }
  }
  for (let at = 0; at < ids.length; at += ID_BATCH) {
    await step(at, bytes, () => add(ids.slice(at, at + ID_BATCH)))
    await nextTurn()
  }
  const page = await toSortedPage(matches.top, reserve, nextTurn)
  return { ...page, total: query.count ? matches.total : undefined, scanned }
}
