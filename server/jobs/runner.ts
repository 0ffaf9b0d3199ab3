import { createBackgroundLoop } from '../storage/changes/background-loop.ts'
import type { Job } from './job.ts'
import { LeaseLost } from './repository/lease.ts'
import type { JobRepository } from './repository/repository.ts'

/** Maximum number of jobs that a node runs concurrently, one step of each in turn. */
const CONCURRENCY = 4

/** Number of job steps per cleanup step. */
const STEPS_PER_CLEANUP = 16

export interface RunnerDeps {
  readonly repository: Pick<
    JobRepository,
    'claim' | 'keepLeases' | 'release' | 'releaseDeadNodes' | 'discardStale' | 'deleteEnded'
  >
  readonly step: (job: Job) => Promise<Job>
  readonly pause: () => Promise<unknown>
  readonly onError: (error: unknown) => void
}

/** Creates a loop that runs the jobs of a node until none are left. */
export function createRunner({ repository, step, pause, onError }: RunnerDeps) {
  let begun = false
  /** Whether the last run may have ended without releasing its jobs. */
  let holdsJobs = false

  async function run(isStopped: () => boolean): Promise<void> {
    if (!begun) await repository.releaseDeadNodes()
    begun = true
    // The database was unavailable when the last run ended.
    if (holdsJobs) await repository.release()
    holdsJobs = true
    await repository.discardStale()
    const active: Job[] = []
    const stopRenewing = repository.keepLeases()
    try {
      for (let steps = 1; !isStopped(); steps++) {
        if (active.length < CONCURRENCY) {
          const claimed = await repository.claim()
          if (claimed !== undefined) active.push(claimed)
        }
        const job = active.shift()
        if (job !== undefined) {
          const next = await step(job).catch(ignoreLeaseLost)
          if (next?.state === 'running') active.push(next)
        }
        const hasCleanedUp =
          (job === undefined || steps % STEPS_PER_CLEANUP === 0) && (await repository.deleteEnded())
        if (job === undefined && !hasCleanedUp) {
          holdsJobs = false
          return
        }
        await pause()
      }
    } finally {
      stopRenewing()
      if (holdsJobs) await repository.release()
      holdsJobs = false
    }
  }

  return createBackgroundLoop(run, onError)
}

/** Ignores {@link LeaseLost}: another node holds the job, or it no longer exists. */
function ignoreLeaseLost(error: unknown): undefined {
  if (!(error instanceof LeaseLost)) throw error
}
