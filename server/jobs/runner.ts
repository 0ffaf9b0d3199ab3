import { createBackgroundLoop } from '../concurrency/background-loop.ts'
import type { CollectionRef } from '../storage/document-ref.ts'
import type { Job } from './job.ts'
import { LeaseLost } from './repository/lease.ts'
import type { JobRepository } from './repository/repository.ts'

/**
 * Maximum number of jobs that a node runs concurrently, one step of each in turn. One caller has at
 * most all but one, so that its jobs do not delay those of all others.
 */
const CONCURRENCY = 4

/**
 * How many of them may be listings, so that callers who may only read do not delay changes. One
 * caller has at most all but one.
 */
const LISTINGS = 2

/**
 * How many further jobs may wait in a step for another change of their collection. Others begin
 * their step later, because the requests of jobs may be large.
 */
const DELAYED = 4

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
   * Returns whether another change of the collection of a job is in progress. A step of the job may
   * then wait for it, and must not delay other jobs.
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

  /** Whether jobs may have been added, or have ended a delayed step, since the last claim. */
  let isWoken = false
  let continueRun = () => {}
  function wakeRun(): void {
    isWoken = true
    continueRun()
  }

  async function run(isStopped: () => boolean): Promise<void> {
    if (!begun) await repository.releaseDeadNodes()
    begun = true
    // The database was unavailable when the last run ended.
    if (holdsJobs) await repository.release()
    holdsJobs = true
    await repository.discardStale()
    const active: Job[] = []
    /** The steps that may wait for another change, by job. */
    const delayed = new Map<Job, Promise<void>>()
    let failure: { readonly error: unknown } | undefined
    /** The other jobs that wait, by id. They are read again later. */
    const waiting = new Map<string, CollectionRef & Pick<Job, 'kind'>>()
    const mayDelay = () => delayed.size < DELAYED
    /** Returns a job that no longer waits, or claims one. */
    async function takeNext(): Promise<Job | undefined> {
      const listings = [...active, ...delayed.keys()].filter(({ kind }) => kind === 'list')
      const mayList = listings.length < LISTINGS
      for (const [id, where] of waiting) {
        if ((isBusy(where) && !mayDelay()) || (where.kind === 'list' && !mayList)) continue
        waiting.delete(id)
        const job = await repository.read(id)
        if (job?.state === 'running') return job
        running.delete(id)
      }
      const held = countByCaller(active)
      const claimed = await repository.claim({
        held,
        atShare: callersWith(CONCURRENCY - 1, held),
        listing: mayList ? callersWith(LISTINGS - 1, countByCaller(listings)) : 'all',
      })
      if (claimed !== undefined) running.set(claimed.id, new AbortController())
      return claimed
    }
    async function stepOnce(job: Job): Promise<void> {
      const { signal } = running.get(job.id) ?? new AbortController()
      const stepped = await step(job, signal).catch(ignoreLeaseLost)
      if (stepped?.state === 'running') active.push(stepped)
      else running.delete(job.id)
    }
    async function stepDelayed(job: Job): Promise<void> {
      try {
        await stepOnce(job)
        await pause()
      } catch (error) {
        failure ??= { error }
      } finally {
        delayed.delete(job)
        wakeRun()
      }
    }
    const stopRenewing = repository.keepLeases(() => [...running.keys()], abort)
    try {
      for (let steps = 1; !isStopped(); steps++) {
        if (failure !== undefined) throw failure.error
        isWoken = false
        const next = active.length < CONCURRENCY ? await takeNext() : undefined
        if (next !== undefined) active.push(next)
        const job = active.shift()
        if (job !== undefined && isBusy(job)) {
          const { id, database, collection, kind } = job
          if (mayDelay()) delayed.set(job, stepDelayed(job))
          else waiting.set(id, { database, collection, kind })
          continue
        }
        if (job !== undefined) await stepOnce(job)
        const hasCleanedUp =
          (job === undefined || steps % STEPS_PER_CLEANUP === 0) && (await repository.deleteEnded())
        if (job !== undefined || hasCleanedUp) await pause()
        else if (delayed.size > 0 || isWoken) await whenWoken()
        else {
          holdsJobs = false
          return
        }
      }
    } finally {
      stopRenewing()
      for (const { id } of delayed.keys()) abort(id)
      await Promise.all(delayed.values())
      running.clear()
      if (holdsJobs) await repository.release()
      holdsJobs = false
    }
  }

  async function whenWoken(): Promise<void> {
    if (isWoken) return
    await new Promise<void>((resolve) => {
      continueRun = resolve
    })
  }

  const loop = createBackgroundLoop(run, onError)
  return {
    wake() {
      loop.wake()
      wakeRun()
    },
    async stop() {
      const stopped = loop.stop()
      wakeRun()
      await stopped
    },
    /** Stops the current step of a job early, after the job was cancelled. */
    abort,
  }
}

function countByCaller(jobs: readonly Job[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { caller } of jobs) counts.set(caller, (counts.get(caller) ?? 0) + 1)
  return counts
}

/** Returns the callers with at least this number of jobs. */
const callersWith = (least: number, counts: ReadonlyMap<string, number>): string[] =>
  [...counts].flatMap(([caller, count]) => (count >= least ? caller : []))

/** Ignores {@link LeaseLost}: another node holds the job, or it no longer exists. */
function ignoreLeaseLost(error: unknown): undefined {
  if (!(error instanceof LeaseLost)) throw error
}
