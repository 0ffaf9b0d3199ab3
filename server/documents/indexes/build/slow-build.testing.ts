import type { CollectionRef } from '../../../storage/document-ref.ts'
import type { Store } from '../../../storage/store.ts'
import { openIndexesOf } from './build-indexes.testing.ts'

/** Number of documents that a step of a slow build indexes. */
const STEP = 3

/** Returns the indexes of a store, with a loop that waits after each step for the test. */
export function openSlowIndexes(store: Store) {
  let isSlow = false
  let proceed: (() => void) | undefined
  let held = Promise.withResolvers<void>()
  const stored = openIndexesOf(store, {
    pause: () =>
      new Promise<void>((resolve) => {
        if (isSlow) {
          proceed = resolve
          held.resolve()
        } else {
          setImmediate(resolve)
        }
      }),
    stepLimits: { documents: STEP, bytes: 256 * 1024 },
  })
  function step(): void {
    held = Promise.withResolvers()
    proceed?.()
    proceed = undefined
  }
  return {
    ...stored,
    /** Makes the first step of a build. An index must have been created. */
    async begin(): Promise<void> {
      isSlow = true
      stored.builder.wake()
      await held.promise
    },
    /** Allows one more step. */
    step,
    /** Completes the builds that have begun. */
    async end(): Promise<void> {
      isSlow = false
      step()
      while ((await stored.repository.next()) !== undefined && stored.errors.length === 0) {
        await new Promise(setImmediate)
      }
    },
    /** Returns the names of the indexes that contain some of the documents, but not all. */
    async partlyBuilt(where: CollectionRef): Promise<string[]> {
      const list = await stored.list(where)
      return list
        .filter(({ progress }) => progress !== null && progress > 0 && progress < 1)
        .map(({ name }) => name)
    },
  }
}
