import type { Job } from './job.ts'
import { type JobRepository, Lost } from './repository.ts'

/** How many jobs a node goes on with at the same time, a step of each in turn. */
const ABREAST = 4

/** So many steps of jobs are made for one of tidying up. */
const STEPS = 16

/** What {@link createRunner} needs. */
export interface RunnerDeps {
  readonly repository: Pick<
    JobRepository,
    'claim' | 'release' | 'releaseOfTheDead' | 'stale' | 'discard' | 'tidy'
  >
  /** Makes a step of a job. */
  readonly step: (job: Job) => Promise<Job>
  readonly pause: () => Promise<unknown>
  readonly onError: (error: unknown) => void
}

/** Makes what goes on with the jobs of a node until there is nothing left to do. */
export function createRunner({ repository, step, pause, onError }: RunnerDeps) {
  let stopped = false
  let asked = false
  let begun = false
  let running: Promise<void> | undefined

  async function run(): Promise<void> {
    if (!begun) await repository.releaseOfTheDead()
    begun = true
    const stale = await repository.stale()
    if (stale.length > 0) await repository.discard(stale)
    const active: Job[] = []
    try {
      for (let steps = 1; !stopped; steps++) {
        if (active.length < ABREAST) {
          const claimed = await repository.claim()
          if (claimed !== undefined) active.push(claimed)
        }
        const job = active.shift()
        if (job !== undefined) {
          const next = await step(job).catch(unlessLost)
          if (next?.state === 'running') active.push(next)
        }
        const tidied = (job === undefined || steps % STEPS === 0) && (await repository.tidy())
        if (job === undefined && !tidied) return
        await pause()
      }
    } finally {
      if (active.length > 0 || stopped) await repository.release()
    }
  }

  /** Runs until there is nothing to do and nobody has asked in the meantime. */
  async function runOn(): Promise<void> {
    while (asked && !stopped) {
      asked = false
      await run().catch(onError)
    }
    running = undefined
  }

  return {
    wake(): void {
      asked = true
      if (!stopped) running ??= runOn()
    },
    async stop(): Promise<void> {
      stopped = true
      await running
    },
  }
}

/** Another node has the job now, or nobody: it goes on without us. */
function unlessLost(error: unknown): undefined {
  if (!(error instanceof Lost)) throw error
}
