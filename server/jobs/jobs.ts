import { JOBS_UNDER_WAY, type JobKind } from '../contract/job.ts'
import { Failure, isStoreFailure } from '../failure.ts'
import type { Store } from '../storage/open.ts'
import { DamagedStore } from '../storage/unavailable.ts'
import { prepareApply } from './apply.ts'
import { createArrays } from './create-arrays.ts'
import { type DocumentRules, failureOf, type Job, type JobRequest, type Where } from './job.ts'
import { look } from './look.ts'
import { createJobRepository, Lost } from './repository.ts'
import { createRunner } from './runner.ts'

/** Work on whole collections, in steps between which everybody else has their turn. */
export interface Jobs {
  /**
   * Creates the documents of an array, all or none; durable when it resolves, also where it resolves
   * with a job.
   *
   * @param parts stored as they arrive.
   * @param later whether the caller asks for a job; more than `BULK_AT_ONCE` documents become
   * one all the same.
   * @throws Failure `conflict`, `too-many-requests`; what `parts` throws
   */
  create(
    where: Where,
    parts: AsyncIterable<readonly { readonly id: string; readonly body: string }[]>,
    later: boolean,
  ): Promise<CreatedMany | { readonly job: string }>
  /**
   * Has documents changed, deleted or listed; durable when it resolves.
   *
   * @throws Failure `too-many-requests`
   */
  begin(where: Where, kind: Exclude<JobKind, 'create'>, request: JobRequest): Promise<Job>
  /** Does the same and waits for it: how many documents it was. Throws what it failed with. */
  run(where: Where, kind: 'patch' | 'delete', request: JobRequest): Promise<number>
  /** A job that was begun in this database; no other's. @throws Failure `not-found` */
  read(database: string, id: string): Promise<Job>
  /** Goes on with what is to be done. To be called at the start and from time to time. */
  wake(): void
  /** Ends after the step that is under way; the rest is done after the next start. */
  stop(): Promise<void>
}

/** The documents of an array that were created while the request waited. */
export interface CreatedMany {
  /** In the order in which they were sent. */
  readonly documents: readonly { readonly id: string; readonly tag: string }[]
  /** The bodies of all of them together, bytes. */
  readonly bytes: number
  /** Reads the bodies in that order, some at a time. */
  readonly bodies: AsyncIterable<string>
  /** To be called where the bodies are not read to their end. */
  release(): void
}

/** What {@link createJobs} needs. */
export interface JobsDeps {
  readonly store: Store
  readonly rules: DocumentRules
  readonly now: () => number
  /** Awaited between two steps, for others to have their turn. */
  readonly pause: () => Promise<unknown>
  readonly onError: (error: unknown) => void
}

/** Makes {@link Jobs}; they run once {@link Jobs.wake} was called. */
export function createJobs({ store, rules, now, pause, onError }: JobsDeps): Jobs {
  const repository = createJobRepository(store, now)

  const commit = async (job: Job, keep?: boolean): Promise<Job> =>
    repository.finish(job, await prepareApply(store.engine, rules, job, pause, now), keep)

  /** One step; what becomes of a job with it. */
  async function step(job: Job): Promise<Job> {
    try {
      const next = await look(store, rules, job)
      if (next !== undefined) return await repository.advance(job, next)
      return await commit(job)
    } catch (error) {
      if (error instanceof Lost) throw error
      if (error instanceof Failure && (error.kind.status < 500 || error.code === 'busy')) {
        return repository.fail(job, error)
      }
      // Too large for the disk, or over a damaged part: it would fail again, and hold others up.
      if (
        isStoreFailure(error) &&
        (error.code !== 'unavailable' || error instanceof DamagedStore)
      ) {
        onError(error)
        return repository.fail(job, error)
      }
      // The store is away: that is no fault of the job's.
      if (isStoreFailure(error)) throw error
      onError(error)
      return repository.fail(job, new Failure('internal', 'Something went wrong on our side.'))
    }
  }

  const runner = createRunner({ repository, step, pause, onError })

  async function allow({ database }: Where): Promise<void> {
    if ((await repository.underWay(database)) < JOBS_UNDER_WAY) return
    throw new Failure('too-many-requests', 'Too many jobs of this database are under way.')
  }

  return {
    create: createArrays({ repository, rules, allow, commit, pause, wake: runner.wake }),
    async begin(where, kind, request) {
      await allow(where)
      const job = await repository.create(where, kind, 'running', request)
      if (kind === 'list') await repository.discardListings(where.database)
      runner.wake()
      return job
    },
    async run(where, kind, request) {
      let job = await repository.create(where, kind, 'attached', request)
      try {
        while (job.state === 'attached') {
          job = await step(job)
          await pause()
        }
        const failure = failureOf(job)
        if (failure !== undefined) throw failure
        return job.found
      } catch (error) {
        if (!(error instanceof Lost)) throw error
        throw new Failure('unavailable', 'The change was given up. Nothing of it was kept.')
      } finally {
        await repository.discard([job.id])
        runner.wake()
      }
    },
    async read(database, id) {
      const job = await repository.read(id)
      const shown = job?.state === 'running' || job?.state === 'done' || job?.state === 'failed'
      if (job !== undefined && shown && job.database === database) return job
      throw new Failure('not-found', 'There is no such job.')
    },
    wake: runner.wake,
    stop: runner.stop,
  }
}
