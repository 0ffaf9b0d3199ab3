import { Failure, isStoreFailure } from '../failure.ts'
import { DamagedStore } from '../storage/availability/unavailable.ts'
import type { CollectionWrites } from '../storage/changes/collection-writes.ts'
import type { Commit } from './commit.ts'
import { failImport, importNext } from './import-job.ts'
import type { DocumentRules, Job } from './job.ts'
import type { LargeChanges } from './large-changes/large-changes.ts'
import { CancelRequested } from './repository/cancellation.ts'
import { LeaseLost } from './repository/lease.ts'
import type { JobRepository } from './repository/repository.ts'
import type { ScanSteps } from './scan-steps.ts'
import type { CollectionSearch } from './search.ts'

export interface StepDeps {
  readonly repository: JobRepository
  readonly rules: DocumentRules
  readonly writes: CollectionWrites | undefined
  readonly large: Pick<LargeChanges, 'release'> | undefined
  readonly scans: ScanSteps
  readonly search: Pick<CollectionSearch, 'connected'>
  readonly commit: Commit
  readonly onError: (error: unknown) => void
}

/**
 * Makes a step of a running job; returns its new state.
 *
 * @param signal aborted when this node no longer holds the job.
 * @throws LeaseLost; Failure `unavailable` for a job that continues later
 */
export type Step = (job: Job, signal: AbortSignal) => Promise<Job>

/** Returns the {@link Step} of the jobs that a node has claimed. */
export function createStep(deps: StepDeps): Step {
  const { repository, rules, writes, large, scans, search, commit, onError } = deps

  async function fail(job: Job, failure: Failure, signal: AbortSignal): Promise<Job> {
    if (job.kind === 'import') return failImport(repository, rules.databaseImporter, job, failure)
    // This process, or an earlier one, may have reserved values for the job.
    await large?.release(job, signal).catch((error) => {
      throw signal.aborted ? new LeaseLost() : error
    })
    return repository.fail(job, failure)
  }

  return async (job, signal) => {
    try {
      if (job.kind === 'import') return await importNext(repository, rules, job, signal)
      const scanned = await scans.next(job, search.connected(signal), signal)
      return scanned ?? (await commit(job, { signal }))
    } catch (error) {
      scans.forget(job)
      if (error instanceof LeaseLost) throw error
      if (signal.aborted) throw new LeaseLost()
      // The request that cancels the job may fail. The job then continues.
      if (error instanceof CancelRequested) return job
      // The change that the job waits for continues.
      if (writes?.isFailureOfChange(error)) return job
      if (error instanceof Failure && (error.kind.status < 500 || error.code === 'busy')) {
        return fail(job, error, signal)
      }
      // The disk is full or part of the database is damaged. A retry would fail too and delay other
      // jobs.
      if (
        isStoreFailure(error) &&
        (error.code !== 'unavailable' || error instanceof DamagedStore)
      ) {
        onError(error)
        return fail(job, error, signal)
      }
      // The database is unavailable, which is not an error of the job. It is retried.
      if (isStoreFailure(error)) throw error
      onError(error)
      return fail(job, new Failure('internal', 'An unexpected error occurred.'), signal)
    }
  }
}
