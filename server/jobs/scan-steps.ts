import type { NextTurn } from '../concurrency/turns.ts'
import type { ScanStep } from '../documents/query/scan/scan-limit.ts'
import { requireConnected } from '../failure.ts'
import type { CollectionRef } from '../storage/document-ref.ts'
import type { Store } from '../storage/store.ts'
import type { DocumentRules, Job } from './job.ts'
import type { JobRepository } from './repository/repository.ts'
import { scanNext } from './scan.ts'
import type { CollectionSearch } from './search.ts'

export interface ScanStepsDeps {
  readonly store: Store
  readonly repository: Pick<JobRepository, 'advance'>
  readonly rules: DocumentRules
  readonly search: CollectionSearch
  /** Awaited within a step, after each time slice. */
  readonly nextTurn: NextTurn
}

export type ScanSteps = ReturnType<typeof createScanSteps>

/** Returns the steps in which jobs read the documents that they change or list. */
export function createScanSteps({ store, repository, rules, search, nextTurn }: ScanStepsDeps) {
  /**
   * The document ids that an index has found for the jobs of this node, by job id; undefined for
   * jobs that scan the collection.
   */
  const selected = new Map<string, readonly string[] | undefined>()

  /** Returns the ids that an index finds for a job; undefined if it must scan the collection. */
  async function select(job: Job, scan: ScanStep): Promise<readonly string[] | undefined> {
    if (job.kind === 'create') return undefined
    // A job that has begun to scan may have passed documents that an index finds now.
    if (!selected.has(job.id) && job.cursor === null) {
      selected.set(job.id, await search.select(job, job.request.filter, scan))
    }
    return selected.get(job.id)
  }

  /** Waits for earlier committed changes. @throws Failure `busy` if the client disconnects */
  async function whenApplied(where: CollectionRef, signal: AbortSignal): Promise<void> {
    try {
      await store.collectionWrites?.whenApplied(where, signal)
    } catch (error) {
      requireConnected(signal)
      throw error
    }
  }

  return {
    select,
    whenApplied,

    /**
     * Scans some documents of a job; returns its new state, or undefined after the last document.
     *
     * @param scan runs the part that reads documents.
     */
    async next(job: Job, scan: ScanStep, signal: AbortSignal): Promise<Job | undefined> {
      // The job starts after earlier committed changes are applied.
      if (job.done === 0) await whenApplied(job, signal)
      const ids = await select(job, scan)
      const next = await scan(() => scanNext(store, rules, job, nextTurn, ids))
      if (next !== undefined) return repository.advance(job, next)
      selected.delete(job.id)
      return undefined
    },

    /** Forgets what an index has found for a job that has ended or failed. */
    forget: ({ id }: Job): void => void selected.delete(id),
  }
}
