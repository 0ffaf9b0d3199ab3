import { nextTurn } from '../../concurrency/turns.ts'
import { compareCodePoints } from '../../contract/query/compare-code-points.ts'
import { Failure, requireConnected } from '../../failure.ts'
import type { CollectionRef } from '../../storage/document-ref.ts'
import type { Store } from '../../storage/store.ts'
import { withAdvice } from '../find/advise.ts'
import { EntryStream } from '../find/entry-stream.ts'
import { idsOf } from '../find/read-by-ids.ts'
import type { ScanLimit, ScanStep } from '../find/scan-limit.ts'
import { planQuery } from '../indexes/plan.ts'
import { createIndexReader } from '../indexes/read/index-reader.ts'
import { type Filter, parseFilter } from '../query/filter.ts'
import { mergeRuns } from '../query/order.ts'

/** Maximum number of ids that are selected by an index, and of their characters. */
const SELECTION_LIMITS = { ids: 100_000, characters: 8 * 1024 * 1024 } as const

/** Number of entries that one statement reads, about a millisecond of work. */
const BATCH = 250

/** Number of ids that are sorted or merged without a pause, a few milliseconds of work. */
const RUN_LENGTH = 2_000

/**
 * Returns the search for the documents that a change or a job concerns.
 *
 * @param scans limits the queries of the node that no index serves.
 */
export function createCollectionSearch(store: Store, scans: ScanLimit) {
  const reader = createIndexReader(store)
  const connected =
    (signal: AbortSignal): ScanStep =>
    async (step) => {
      requireConnected(signal)
      return step()
    }
  return {
    /**
     * Returns the ids of the documents that a filter lists, or an index finds for it, in order. They
     * may include documents that do not exist or do not match. Returns undefined if no index serves
     * the filter, or if it finds more than {@link SELECTION_LIMITS}.
     */
    async select(
      where: CollectionRef,
      filter: Filter,
      step: ScanStep,
    ): Promise<readonly string[] | undefined> {
      const conditions = parseFilter(filter)
      const listed = idsOf(conditions)
      if (listed !== undefined) return listed
      if (filter.length === 0) return undefined
      const plan = planQuery(await reader.ready(where), { conditions, sort: [], count: true })
      if (plan === undefined) return undefined
      const ids = new Set<string>()
      const runs: string[][] = []
      let run: string[] = []
      let characters = 0
      for (const each of plan.streams) {
        const stream = new EntryStream(reader, where, plan.index, each, false)
        for (;;) {
          const entries = await step(() => stream.take(BATCH))
          if (entries.length === 0) break
          for (const { id } of entries) {
            characters += id.length
            if (ids.has(id)) continue
            ids.add(id)
            run.push(id)
          }
          if (run.length >= RUN_LENGTH) {
            runs.push(run.sort(compareCodePoints))
            run = []
          }
          if (ids.size > SELECTION_LIMITS.ids || characters > SELECTION_LIMITS.characters)
            return undefined
          await nextTurn()
        }
      }
      if (!(await reader.isReady(where, plan.index))) return undefined
      runs.push(run.sort(compareCodePoints))
      const sorted: string[] = []
      for (const id of mergeRuns(runs, compareCodePoints)) {
        sorted.push(id)
        if (sorted.length % RUN_LENGTH === 0) await nextTurn()
      }
      return sorted
    },

    connected,

    /**
     * Runs the steps of a request, until its client disconnects.
     *
     * @param unserved the filter that no index serves; undefined if the documents are known.
     * @throws Failure `busy`, `query-too-expensive`
     */
    async run(
      signal: AbortSignal,
      unserved: Filter | undefined,
      steps: (step: ScanStep) => Promise<void>,
    ): Promise<void> {
      if (unserved === undefined) return steps(connected(signal))
      try {
        await scans.run(signal, steps)
      } catch (error) {
        throw withAdvice(explainStop(error), { conditions: parseFilter(unserved), sort: [] })
      }
    },
  }
}

/** Returns the error of a change whose search was stopped. Other errors are returned unchanged. */
function explainStop(error: unknown): unknown {
  if (!(error instanceof Failure) || error.code !== 'query-too-expensive') return error
  return error.with({
    message:
      'The change was stopped, because it takes too long to find its documents. Nothing was changed. ' +
      'Request a job with the header Prefer: respond-async.',
  })
}

export type CollectionSearch = ReturnType<typeof createCollectionSearch>
