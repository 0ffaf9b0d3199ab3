import { createBackgroundLoop } from '../storage/changes/background-loop.ts'
import type { CollectionRef } from '../storage/document-ref.ts'
import type { Job } from './job.ts'
import { LeaseLost } from './repository/lease.ts'
import type { JobRepository } from './repository/repository.ts'

/** Maximum number of jobs that a node runs concurrently, one step of each in turn. */
const CONCURRENCY = 4

/** How many of them may be listings, so that callers who may only read do not delay changes. */
const LISTINGS = 2

/** Number of job steps per cleanup step. */
const STEPS_PER_CLEANUP = 16

export interface RunnerDeps {
  readonly repository: Pick<
    JobRepository,
    | 'claim'
    | 'read'
    | 'keepLeases'
    | 'release'
    | 'releaseDeadNodes'
    | 'discardStale'
    | 'deleteEnded'
  >
  /**
   * Returns whether another change of the collection of a job is in progress. The job then waits
   * without delaying others. Wake the loop when the change ends.
   */
  readonly isBusy: (where: CollectionRef) => boolean
  /** @param signal aborted when this node no longer holds the job. */
  readonly step: (job: Job, signal: AbortSignal) => Promise<Job>
  readonly pause: () => Promise<unknown>
  readonly onError: (error: unknown) => void
}

/** Creates a loop that runs the jobs of a node until none are left. */
export function createRunner({ repository, isBusy, step, pause, onError }: RunnerDeps) {
  let begun = false
  /** Whether the last run may have ended without releasing its jobs. */
  let holdsJobs = false
  /** The jobs that this node runs, by id. */
  const running = new Map<string, AbortController>()
  const abort = (id: string) => running.get(id)?.abort()

  async function run(isStopped: () => boolean): Promise<void> {
    if (!begun) await repository.releaseDeadNodes()
    begun = true
    // The database was unavailable when the last run ended.
    if (holdsJobs) await repository.release()
    holdsJobs = true
    await repository.discardStale()
    const active: Job[] = []
    /** The jobs that wait, by id. They are read again later, because their requests may be large. */
    const waiting = new Map<string, CollectionRef & Pick<Job, 'kind'>>()
    /** Returns a job that no longer waits, or claims one. */
    async function takeNext(): Promise<Job | undefined> {
      const mayList = active.filter(({ kind }) => kind === 'list').length < LISTINGS
      for (const [id, where] of waiting) {
        if (isBusy(where) || (where.kind === 'list' && !mayList)) continue
        waiting.delete(id)
        const job = await repository.read(id)
        if (job?.state === 'running') return job
        running.delete(id)
      }
      const claimed = await repository.claim(mayList ? 'any' : 'others')
      if (claimed !== undefined) running.set(claimed.id, new AbortController())
      return claimed
    }
    const stopRenewing = repository.keepLeases(() => [...running.keys()], abort)
    try {
      for (let steps = 1; !isStopped(); steps++) {
        const next = active.length < CONCURRENCY ? await takeNext() : undefined
        if (next !== undefined) active.push(next)
        const job = active.shift()
        if (job !== undefined && isBusy(job)) {
          const { id, database, collection, kind } = job
          waiting.set(id, { database, collection, kind })
          continue
        }
        if (job !== undefined) {
          const { signal } = running.get(job.id) ?? new AbortController()
          const stepped = await step(job, signal).catch(ignoreLeaseLost)
          if (stepped?.state === 'running') active.push(stepped)
          else running.delete(job.id)
        }
        const hasCleanedUp =
          (job === undefined || steps % STEPS_PER_CLEANUP === 0) && (await repository.deleteEnded())
        if (job === undefined && !hasCleanedUp) {
          holdsJobs = waiting.size > 0
          return
        }
        await pause()
      }
    } finally {
      stopRenewing()
      running.clear()
      if (holdsJobs) await repository.release()
      holdsJobs = false
    }
  }

  return {
    ...createBackgroundLoop(run, onError),
    /** Stops the current step of a job early, after the job was cancelled. */
    abort,
  }
}

/** Ignores {@link LeaseLost}: another node holds the job, or it no longer exists. */
function ignoreLeaseLost(error: unknown): undefined {
  if (!(error instanceof LeaseLost)) throw error
}
