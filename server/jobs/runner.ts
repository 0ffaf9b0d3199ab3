import { createBackgroundLoop } from '../concurrency/background-loop.ts'
import type { Job } from './job.ts'
import type { JobRepository } from './job-repository.ts'
import { LeaseLost } from './lease.ts'

/** Maximum number of jobs that a node runs concurrently, alternating their steps. */
const CONCURRENCY = 4

/** Number of job steps per cleanup step. */
const STEPS_PER_CLEANUP = 16

export interface RunnerDeps {
  readonly repository: Pick<
    JobRepository,
    'claim' | 'keepLeases' | 'release' | 'releaseDeadNodes' | 'discardStale' | 'deleteEnded'
  >
  /** @param signal aborted when this node no longer holds the job. */
  readonly step: (job: Job, signal: AbortSignal) => Promise<Job>
  readonly pause: () => Promise<unknown>
  readonly onError: (error: unknown) => void
}

/** Creates a loop that runs the jobs of a node until none are left. */
export function createRunner({ repository, step, pause, onError }: RunnerDeps) {
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
    async function claimNext(): Promise<Job | undefined> {
      const claimed = await repository.claim()
      if (claimed !== undefined) running.set(claimed.id, new AbortController())
      return claimed
    }
    async function stepOnce(job: Job): Promise<void> {
      const { signal } = running.get(job.id) ?? new AbortController()
      const stepped = await step(job, signal).catch(ignoreLeaseLost)
      if (stepped?.state === 'running') active.push(stepped)
      else running.delete(job.id)
    }
    const stopRenewing = repository.keepLeases(() => [...running.keys()], abort)
    try {
      for (let steps = 1; !isStopped(); steps++) {
        const next = active.length < CONCURRENCY ? await claimNext() : undefined
        if (next !== undefined) active.push(next)
        const job = active.shift()
        if (job !== undefined) await stepOnce(job)
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
      running.clear()
      if (holdsJobs) await repository.release()
      holdsJobs = false
    }
  }

  const loop = createBackgroundLoop(run, onError)
  return {
    wake: loop.wake,
    stop: loop.stop,
    /** Stops the current step of a job early, after the job was cancelled. */
    abort,
  }
}

/** Ignores {@link LeaseLost}: another node holds the job, or it no longer exists. */
function ignoreLeaseLost(error: unknown): undefined {
  if (!(error instanceof LeaseLost)) throw error
}
