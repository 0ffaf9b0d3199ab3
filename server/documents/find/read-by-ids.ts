import { createTimeSlice, nextTurn } from '../../concurrency/turns.ts'
import { compareCodePoints } from '../../contract/query/compare-code-points.ts'
import type { CollectionRef } from '../../storage/document-ref.ts'
import { shortestOf } from '../indexes/plan.ts'
import { type Condition, equalTexts } from '../query/filter.ts'
import type { PageQuery } from '../query/query.ts'
import { parseFields } from '../read-fields.ts'
import { BATCH_BYTES } from '../repository/scan-batch.ts'
import { type Page, type ReadPageDeps, type ScanBounds, toSortedPage } from './read-page.ts'
import type { IndexStep } from './scan-limit.ts'
import { SortedMatches } from './sorted-matches.ts'

/** Maximum number of documents that are read in one step. */
const ID_BATCH = 16

/**
 * Returns the ids that documents must have to match conditions, in order; undefined if the
 * conditions do not list them.
 */
export function idsOf(conditions: readonly Condition[]): readonly string[] | undefined {
  const lists = conditions.filter(({ field }) => field === 'id').map(equalTexts)
  const ids = shortestOf(lists.filter((texts) => texts !== undefined))
  // No id contains U+0000, which PostgreSQL rejects.
  return ids?.filter((id) => !id.includes('\0')).toSorted(compareCodePoints)
}

/** Returns a page of the documents with these ids that match, in the requested order. */
export async function readByIds(
  { repository }: ReadPageDeps,
  where: CollectionRef,
  ids: readonly string[],
  query: PageQuery,
  { reserve, step }: Pick<ScanBounds, 'reserve'> & { readonly step: IndexStep },
): Promise<Page> {
  const matches = new SortedMatches(query)
  const timeSlice = createTimeSlice()
  const documents = repository.readEach(where, ids)[Symbol.asyncIterator]()
  let read = 0
  let scanned = 0
  let bytes = 0
  /** Adds documents until a batch of them is read; returns whether there may be more. */
  async function addBatch(): Promise<boolean> {
    const [maxRead, maxBytes] = [read + ID_BATCH, bytes + BATCH_BYTES]
    while (read < maxRead && bytes < maxBytes) {
      const { done, value: document } = await documents.next()
      if (done) return false
      read++
      if (document === undefined) continue
      scanned++
      bytes += document.body.length
      const turn = timeSlice()
      if (turn !== undefined) await turn
      const parsed = parseFields(document.body, query.reads)
      if (parsed === undefined) {
        query.onDamaged?.(document.id)
        continue
      }
      const adding = matches.add({ ...document, parsed })
      if (adding !== undefined) await adding
    }
    return true
  }
  while (await step(read, bytes, addBatch)) {
    // Before the wait, during which the documents stay in memory.
    await reserve?.(matches.top.bytes + BATCH_BYTES)
    await nextTurn()
  }
  const page = await toSortedPage(matches.top, reserve)
  return { ...page, total: query.count ? matches.total : undefined, scanned }
}
