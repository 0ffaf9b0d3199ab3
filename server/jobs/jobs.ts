import { createTurns, type NextTurn } from '../concurrency/turns.ts'
import { type Caller, NO_CALLER } from '../concurrency/work-queue.ts'
import type { Actor } from '../contract/audit/audit.ts'
import type { JobKind } from '../contract/job.ts'
import type { LargeArrays } from '../documents/repository/writes/create-many.ts'
import { Failure } from '../failure.ts'
import type { CollectionRef } from '../storage/document-ref.ts'
import type { Store } from '../storage/store.ts'
import { type ApplyPause, prepareApply } from './apply.ts'
import { type Commit, commitOrFind, connectedPause, createCommit } from './commit.ts'
import { createArrays } from './create-arrays.ts'
import { type BeginImport, cancelImport, createBeginImport } from './import-job.ts'
import type { DocumentRules, Job, JobRequest, JobState } from './job.ts'
import { createLargeChanges } from './large-changes/large-changes.ts'
import type { NewJob } from './repository/creation.ts'
import { LeaseLost, type RenewalTimer } from './repository/lease.ts'
import { createJobRepository } from './repository/repository.ts'
import { createRunner } from './runner.ts'
import { createScanSteps } from './scan-steps.ts'
import { type CollectionSearch, unlimitedSearch } from './search.ts'
import { createStep } from './step.ts'

/** Operations on whole collections, in steps that yield to other requests. */
export interface Jobs extends LargeArrays {
  /**
   * Starts a job that changes, deletes or lists documents. The job is durable when the promise
   * resolves.
   *
   * @param caller the id of the caller (`Caller`).
   * @throws Failure `too-many-requests`
   */
  begin(
    where: CollectionRef,
    kind: Exclude<JobKind, 'create' | 'import'>,
    request: JobRequest,
    caller?: string,
  ): Promise<Job>
  /** Starts an import. @throws Failure `too-many-requests`; any error that `parts` throws */
  readonly beginImport: BeginImport
  /**
   * Runs a job to its end; returns the number of documents.
   *
   * @param caller if the client disconnects, the job changes nothing.
   * @throws Failure `too-many-requests`, `busy`, `query-too-expensive` if no index serves the filter
   */
  run(
    where: CollectionRef,
    kind: 'patch' | 'delete',
    request: JobRequest,
    caller?: Caller,
  ): Promise<number>
  /** Returns a job of this database. @throws Failure `not-found` */
  read(database: string, id: string): Promise<Job>
  /**
   * Cancels a job of this database; returns its new state. No document is stored for the job once
   * this resolves. No effect on a job that is committed or has ended.
   *
   * @throws Failure `not-found`
   */
  cancel(database: string, id: string, actor: Actor): Promise<Job>
  /** Resumes committed changes. Call it before requests are served. */
  restore(): Promise<void>
  /** Resumes pending jobs. Call it at startup and periodically. */
  wake(): void
  /** Stops after the current step. The next start resumes the rest. */
  stop(): Promise<void>
}

export interface JobsDeps {
  readonly store: Store
  readonly rules: DocumentRules
  /** Returns ms since 1970. */
  readonly now: () => number
  /**
   * Returns whole ms for the expiry of leases, by default `now`. The clocks of the nodes may differ
   * by more than a lease lasts, or be set during a preparation, so it must depend on neither.
   */
  readonly leaseClock?: () => number
  /** Returns the time of a monotonic clock, ms; by default that of this process. */
  readonly steady?: () => number
  /** Awaited between two steps, so that other requests can run. */
  readonly pause: () => Promise<unknown>
  /** Awaited within a step, after each time slice. */
  readonly nextTurn?: NextTurn
  readonly onError: (error: unknown) => void
  /**
   * Called when a large change is applied on SQLite. A unique index that was created after the
   * change was committed may have failed.
   */
  readonly onApplied?: () => void
  readonly search?: CollectionSearch
  /** Replaces the timer that renews leases in tests. */
  readonly renewalTimer?: RenewalTimer
}

/** Returns the jobs of a store. They run after the first call of {@link Jobs.wake}. */
export function createJobs(deps: JobsDeps): Jobs {
  const { store, rules, now, leaseClock, pause, onError, search = unlimitedSearch } = deps
  const { steady = () => performance.now(), nextTurn = createTurns() } = deps
  const repository = createJobRepository(store, now, leaseClock, deps.renewalTimer)

  const applyInTransaction: Commit = async (job, { keep, signal } = {}) => {
    const connected = connectedPause(pause, signal)
    const isCancellable = store.engine === 'postgres' && job.state === 'running'
    const between: ApplyPause = async (trx) => {
      await connected()
      if (isCancellable) await repository.requireNotCancelled(trx, job)
    }
    const apply = await prepareApply(store.engine, rules, job, between, steady)
    return repository.finish(job, apply, { keep })
  }
  const writes = store.collectionWrites
  const large =
    writes &&
    createLargeChanges({
      store,
      writes,
      repository,
      rules,
      steady,
      pause,
      nextTurn,
      onError,
      applyInTransaction,
      onApplied: deps.onApplied ?? (() => {}),
      wake: () => runner.wake(),
    })

  const commitChecked: Commit = (job, options) =>
    large === undefined || job.kind === 'list'
      ? applyInTransaction(job, options)
      : large.commit(job, options)

  /** Stores a job with the tag of the current schema, which validates its documents from now on. */
  async function create(job: NewJob) {
    if (job.kind !== 'patch') return repository.createWithinLimits(job)
    const { tag } = await rules.schema(job.where)
    return repository.createWithinLimits({ ...job, request: { ...job.request, schema: tag } })
  }

  const commit = createCommit({ store, repository, rules, commitChecked, pause })

  const discard = (job: Job): Promise<void> =>
    large === undefined ? repository.discard([job.id]) : large.discard(job)

  const scans = createScanSteps({ store, repository, rules, search, nextTurn })

  const runner = createRunner({
    repository,
    pause,
    onError,
    isBusy: (where) => writes?.isBusy(where) ?? false,
    step: createStep({ repository, rules, writes, large, scans, search, commit, onError }),
  })

  async function read(database: string, id: string): Promise<Job> {
    const job = await repository.read(id)
    if (job?.database === database && VISIBLE_STATES.includes(job.state)) return job
    throw new Failure('not-found', 'There is no such job.')
  }

  return {
    create: createArrays({ repository, rules, commit, discard, pause, wake: runner.wake }),
    beginImport: createBeginImport({ repository, pause, wake: runner.wake }),
    async begin(where, kind, request, caller) {
      const job = await create({ where, kind, state: 'running', request, caller })
      if (kind === 'list') await repository.discardListings(where.database)
      runner.wake()
      return job
    },
    async run(where, kind, request, caller = NO_CALLER) {
      const { signal } = caller
      let job = await create({ where, kind, state: 'attached', request, caller: caller.id })
      const stopRenewing = repository.keepLease(job)
      try {
        const { filter } = request
        // Not limited like a scan: whether an index serves the filter is only known afterwards.
        await scans.whenApplied(where, signal)
        const ids = await scans.select(job, search.connected(signal))
        const isScan = filter.length > 0 && ids === undefined
        await search.run(caller, isScan ? filter : undefined, async (scan) => {
          for (;;) {
            const next = await scans.next(job, scan, signal)
            if (next === undefined) return
            job = next
            await pause()
          }
        })
        // Not part of the search, because it may wait for the changes of other jobs.
        const committed = await commitOrFind({ commit, repository }, job, { signal })
        return committed.found
      } catch (error) {
        if (!(error instanceof LeaseLost)) throw error
        throw await repository.lostFailure(where.database)
      } finally {
        stopRenewing()
        scans.forget(job)
        // The change is made or rejected by now. A job that cannot be discarded expires.
        await discard(job).catch(onError)
        runner.wake()
      }
    },
    read,
    async cancel(database, id, actor) {
      const job = await read(database, id)
      // The process that runs the job, or an earlier one, may have reserved values for it.
      const reserves = large !== undefined && (job.kind === 'create' || job.kind === 'patch')
      const cancelled =
        job.kind === 'import'
          ? await cancelImport(repository, rules.databaseImporter, job, actor)
          : await repository.cancel(job, reserves ? 'cancelling' : 'cancelled')
      if (cancelled === undefined) return read(database, id)
      runner.abort(id)
      if (reserves) large.endCancelled(cancelled)
      runner.wake()
      return cancelled
    },
    async restore() {
      await large?.restore()
    },
    wake: runner.wake,
    async stop() {
      await runner.stop()
      await large?.stop()
    },
  }
}

/** States that clients can see. Only its own request sees a `preparing` or `attached` job. */
const VISIBLE_STATES: readonly JobState[] = [
  'running',
  'applying',
  'done',
  'failed',
  'cancelling',
  'cancelled',
]
