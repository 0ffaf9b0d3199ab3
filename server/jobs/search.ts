import type { Caller } from '../concurrency/work-queue.ts'
import type { Filter } from '../documents/query/filter.ts'
import type { ScanStep } from '../documents/query/scan/scan-limit.ts'
import type { CollectionRef } from '../storage/document-ref.ts'

/** Finds the documents that a job changes or lists (`documents/collections/collection-search.ts`). */
export interface CollectionSearch {
  /**
   * Returns the ids of documents that may match a filter, in order; undefined if the collection
   * must be scanned.
   */
  select(
    where: CollectionRef,
    filter: Filter,
    step: ScanStep,
  ): Promise<readonly string[] | undefined>
  /**
   * Returns a function that runs a step of a job at the pace of the scans of the node, but without
   * their limits. It throws once the client has disconnected.
   */
  connected(signal: AbortSignal): ScanStep
  /**
   * Runs the steps of a request within the limits of the node.
   *
   * @param unserved the filter for which the collection is scanned; undefined if it is not.
   */
  run(
    caller: Caller,
    unserved: Filter | undefined,
    steps: (step: ScanStep) => Promise<void>,
  ): Promise<void>
}

const runNow: ScanStep = async (step) => step()

/** Scans collections without limits. */
export const unlimitedSearch: CollectionSearch = {
  select: async () => undefined,
  connected: () => runNow,
  run: (_caller, _unserved, steps) => steps(runNow),
}
