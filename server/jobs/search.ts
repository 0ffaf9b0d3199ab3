import type { Filter } from '../documents/query/filter.ts'
import type { CollectionRef } from '../storage/document-ref.ts'

/** Finds the documents that a job changes or lists (`documents/collections/collection-search.ts`). */
export interface CollectionSearch {
  /**
   * Returns the ids of documents that may match a filter, in order; undefined if the collection
   * must be scanned.
   */
  select(where: CollectionRef, filter: Filter): Promise<readonly string[] | undefined>
  /**
   * Runs the steps of a request within the limits of the node. `check` throws if they must end.
   *
   * @param unserved the filter for which the collection is scanned; undefined if it is not.
   */
  run(
    signal: AbortSignal,
    unserved: Filter | undefined,
    steps: (check: () => void) => Promise<void>,
  ): Promise<void>
}

/** Scans collections without limits. */
export const unlimitedSearch: CollectionSearch = {
  select: async () => undefined,
  run: (_signal, _unserved, steps) => steps(() => {}),
}
