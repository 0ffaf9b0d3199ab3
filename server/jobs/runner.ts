import { createBackgroundLoop } from '../storage/changes/background-loop.ts'
import type { Job } from './job.ts'
import { type JobRepository, LeaseLost } from './repository.ts'

/** Maximum number of jobs that a node runs concurrently, one step of each in turn. */
const CONCURRENCY = 4

/** Number of job steps per cleanup step. */
const STEPS_PER_CLEANUP = 16

export interface RunnerDeps {
  readonly repository: Pick<
    JobRepository,
    'claim' | 'release' | 'releaseDeadNodes' | 'stale' | 'discard' | 'tidy'
  >
  readonly step: (job: Job) => Promise<Job>
  readonly pause: () => Promise<unknown>
  readonly onError: (error: unknown) => void
}

/** Creates a loop that runs the jobs of a node until none are left. */
export function createRunner({ repository, step, pause, onError }: RunnerDeps) {
  let begun = false

  async function run(isStopped: () => boolean): Promise<void> {
    if (!begun) await repository.releaseDeadNodes()
    begun = true
    const stale = await repository.stale()
    if (stale.length > 0) await repository.discard(stale)
    const active: Job[] = []
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
          (job === undefined || steps % STEPS_PER_CLEANUP === 0) && (await repository.tidy())
        if (job === undefined && !hasCleanedUp) return
        await pause()
      }
    } finally {
      if (active.length > 0 || isStopped()) await repository.release()
    }
  }

  return createBackgroundLoop(run, onError)
}

/** Ignores {@link LeaseLost}: another node holds the job, or it no longer exists. */
function ignoreLeaseLost(error: unknown): undefined {
  if (!(error instanceof LeaseLost)) throw error
}
