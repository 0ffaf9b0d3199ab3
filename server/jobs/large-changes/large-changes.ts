import { createTimeSlice } from '../../concurrency/time-slice.ts'
import type { NextTurn } from '../../concurrency/turns.ts'
import { isStoreFailure, requireConnected } from '../../failure.ts'
import { DamagedStore, StoreUnavailable } from '../../storage/availability/unavailable.ts'
import type { CollectionWrites, Turn } from '../../storage/changes/collection-writes.ts'
import { portionsOf } from '../../storage/changes/portions.ts'
import type { Store } from '../../storage/store.ts'
import { existsAlready, withTimeLimit } from '../apply.ts'
import { type Commit, type CommitOptions, connectedPause } from '../commit.ts'
import type { DocumentRules, Job, Merge, StagedDocument } from '../job.ts'
import { type Range, rangeAfter } from '../range.ts'
import type { JobRepository } from '../repository/repository.ts'
import type { ChangedDocument } from '../repository/staging.ts'
import { createReservation } from './reservation.ts'
import { createUnapplied, writeRange } from './unapplied.ts'

/**
 * Maximum number of documents that one commit writes, and of their bytes; a few milliseconds of
 * work. A change up to this size is made in one transaction.
 */
const COMMIT_LIMIT = { documents: 1_000, bytes: 256 * 1024, countsDeleted: true } as const

/** Number of concurrently written documents that are checked at a time. */
const CHECK_BATCH = 100

/** Maximum number of check rounds before writes to the collection must wait. */
const MAX_ROUNDS = 10

/** Delay before a failed write is retried, ms. */
const RETRY_DELAY = 1_000

export interface LargeChangesDeps {
  readonly store: Store
  readonly writes: CollectionWrites
  readonly repository: JobRepository
  readonly rules: DocumentRules
  /** Returns the time of a monotonic clock, ms. */
  readonly steady: () => number
  readonly pause: () => Promise<unknown>
  readonly nextTurn: NextTurn
  readonly onError: (error: unknown) => void
  /** See `JobsDeps.onApplied`. */
  readonly onApplied: () => void
  /** Triggers the deletion of the rows of ended jobs. */
  readonly wake: () => void
  /** Applies a job in the transaction that ends it. */
  readonly applyInTransaction: Commit
}

/** A check of the staged documents of a job, before it is committed. */
interface Check {
  /** Merges the patch of the job; undefined if it has none. */
  readonly merge: Merge | undefined
  /** Whether the values of the documents are reserved in unique indexes. */
  readonly isReserved: boolean
  readonly pause: () => Promise<unknown>
}

export type LargeChanges = ReturnType<typeof createLargeChanges>

/**
 * Returns the engine for large changes on SQLite, where a long transaction would block all other
 * writes (docs/decisions/0020-redo-log-for-large-changes.md). The rows that a job has staged are
 * its redo log. A small transaction commits the job, and the change is visible from then on. The
 * documents are written afterwards in steps, between which other requests can write; after a crash,
 * the next start resumes. Until then, readers combine stored documents with the log, and a request
 * that writes a document first applies the change to it.
 *
 * Nothing can fail after the commit: the staged rows are checked against all concurrent writes,
 * later writes wait for the commit, and changed documents have reserved their unique values.
 */
export function createLargeChanges(deps: LargeChangesDeps) {
  const { store, writes, repository, rules, steady, pause, nextTurn } = deps
  const { onError, onApplied, wake, applyInTransaction } = deps
  const { db, transaction } = store
  const reservation = createReservation(deps)
  /** The changes, releases and cancellations in progress, by the id of their job. */
  const background = new Map<string, Promise<void>>()
  /** Jobs to delete once they are applied. */
  const dropped = new Set<string>()
  const stopping = new AbortController()
  const isStopped = () => stopping.signal.aborted

  /** Checks the staged documents of a job against the stored ones; returns the updated job. */
  async function recheck(job: Job, check: Check, ids?: readonly string[]): Promise<Job> {
    let checked = job
    for (let after = ''; ; ) {
      const range = ids === undefined ? await rangeAfter(db, job, after, COMMIT_LIMIT) : undefined
      if (ids === undefined && range === undefined) return checked
      checked = await recheckSome(checked, check, ids ?? range ?? [])
      if (range === undefined) return checked
      after = range.last
      await check.pause()
    }
  }

  async function recheckSome(
    job: Job,
    check: Check,
    which: Range | readonly string[],
  ): Promise<Job> {
    if (job.kind === 'create') {
      const existing = await repository.firstExisting(job, which)
      if (existing !== undefined) throw existsAlready(existing)
      return job
    }
    let checked = job
    // The stored bodies may be much larger than the staged ones.
    for (const { rows } of portionsOf(await repository.changed(job, which), COMMIT_LIMIT)) {
      checked = await restage(checked, check, rows)
      await check.pause()
    }
    return checked
  }

  async function restage(
    job: Job,
    { merge, isReserved }: Check,
    changed: readonly ChangedDocument[],
  ): Promise<Job> {
    const stored = await repository.stored(job, changed)
    const staged: StagedDocument[] = []
    const matches = rules.matcher(job.request.filter)
    const timeSlice = createTimeSlice(nextTurn)
    for (const { id, tag, body } of stored) {
      await timeSlice()
      if (!(await matches(body))) continue
      if (merge === undefined) staged.push({ id, seen: tag, tag: '', body: '' })
      else staged.push({ id, seen: tag, tag: rules.createTag(), body: await merge(id, body) })
    }
    const deleted = changed.filter(({ tag }) => tag === null)
    // Documents that have changed again are in `Turn.written`, so a later round checks them.
    const ids = [...deleted, ...stored].map(({ id }) => id)
    if (isReserved) await reservation.releaseSome(job, ids)
    const restaged = await repository.restage(job, ids, staged)
    if (isReserved) await reservation.reserveSome(job, staged)
    return restaged
  }

  /**
   * Releases the values that a job has reserved before it ends. If that fails, a job of a request
   * is kept until a later attempt succeeds.
   *
   * @throws StoreUnavailable if the job has to be repeated instead
   */
  async function release(job: Job): Promise<void> {
    try {
      await reservation.release(job)
    } catch (error) {
      onError(error)
      // A repeated release would fail too.
      if (!isStoreFailure(error) || error instanceof DamagedStore) return
      if (job.state === 'running') throw new StoreUnavailable(undefined, { cause: error })
      background.set(job.id, releaseLater(job))
    }
  }

  async function releaseLater(job: Job): Promise<void> {
    const stopRenewing = repository.keepLease(job)
    await later(RETRY_DELAY, stopping.signal)
    // The error of the first attempt was reported.
    await releaseAndEnd(
      job,
      () => end(job),
      () => {},
    )
    stopRenewing()
  }

  /**
   * Releases the values that a job has reserved, then ends the job. Retries until both succeed. The
   * next start continues after a stop.
   *
   * @param report called with the first error.
   */
  async function releaseAndEnd(
    job: Job,
    endJob: () => Promise<void>,
    report: (error: unknown) => void,
  ): Promise<void> {
    for (let isFirst = true; !isStopped(); isFirst = false) {
      try {
        // The turn may wait for a change whose next step follows after a restart.
        await writes.turn(job, () => reservation.release(job, isStopped), stopping.signal)
        if (!isStopped()) await endJob()
        return
      } catch (error) {
        if (isStopped()) return
        if (isFirst) report(error)
        await later(RETRY_DELAY, stopping.signal)
      } finally {
        wake()
      }
    }
  }

  /** Deletes a job whose work in the background has ended, if its caller has discarded it. */
  async function end({ id }: Job): Promise<void> {
    // From here on, the caller of `discard` deletes the job.
    background.delete(id)
    if (dropped.delete(id)) await repository.discard([id]).catch(onError)
    wake()
  }

  /** Commits a job. Releases the values that it has reserved for a request if that fails. */
  async function commitIn(turn: Turn, job: Job, options: CommitOptions): Promise<Job> {
    // The job may have waited for the changes of earlier ones.
    requireConnected(options.signal)
    if (await isSmallChange(job)) return commitChecked(turn, job, options, 'transaction')
    if (!(await reservation.isNeeded(job))) return commitChecked(turn, job, options, 'log')
    try {
      await reservation.reserve(job, connectedPause(pause, options.signal))
      return await commitChecked(turn, job, options, 'reserved')
    } catch (error) {
      // Those of a job in the background are released if it fails. It may be repeated.
      if (job.state !== 'running') await release(job)
      throw error
    }
  }

  /**
   * @param mode how the documents are changed: in the committing `transaction`, or afterwards from
   * the `log`. With `reserved`, from the log, after their values in unique indexes were reserved.
   */
  async function commitChecked(
    turn: Turn,
    job: Job,
    options: CommitOptions,
    mode: 'transaction' | 'log' | 'reserved',
  ): Promise<Job> {
    const { keep = false, signal } = options
    const { patch } = job.request
    const merge = patch === undefined ? undefined : await rules.merger(job, patch)
    const check = {
      merge,
      isReserved: mode === 'reserved',
      pause: connectedPause(pause, signal),
    }
    turn.watch()
    let checked = await recheck(job, check)
    const checkWritten = async (roundCheck: Check) => {
      const ids = [...turn.written].slice(0, CHECK_BATCH)
      for (const id of ids) turn.written.delete(id)
      checked = await recheck(checked, roundCheck, ids)
    }
    for (let round = 0; turn.written.size > CHECK_BATCH / 10 && round < MAX_ROUNDS; round++) {
      await checkWritten(check)
      await check.pause()
    }
    await turn.close()
    // Writes wait from here on, so slow schema validation must be limited.
    const timedCheck = {
      ...check,
      merge: merge && withTimeLimit(merge, steady),
      pause: connectedPause(nextTurn, signal),
    }
    while (turn.written.size > 0) await checkWritten(timedCheck)
    if (mode === 'transaction') return applyInTransaction(checked, options)
    requireConnected(signal)
    const committed = await repository.commit(checked, { keep })
    turn.commit(createUnapplied(store, rules, committed))
    background.set(committed.id, apply(committed))
    return committed
  }

  async function isSmallChange(job: Job): Promise<boolean> {
    const first = await rangeAfter(db, job, '', COMMIT_LIMIT)
    return (
      first === undefined || (await rangeAfter(db, job, first.last, COMMIT_LIMIT)) === undefined
    )
  }

  async function apply(job: Job): Promise<void> {
    for (let isFailing = false; !isStopped(); ) {
      try {
        if (!(await step(job))) break
        isFailing = false
        await pause()
      } catch (error) {
        if (!isFailing) onError(error)
        isFailing = true
        writes.failed(job, error)
        await later(RETRY_DELAY, stopping.signal)
      }
    }
    if (isStopped()) return
    writes.applied(job)
    onApplied()
    await end(job)
  }

  /** Writes some documents; returns false if none are left or the job was discarded. */
  const step = (job: Job): Promise<boolean> =>
    transaction(async (trx) => {
      const cursor = await repository.cursorOf(trx, job)
      if (cursor === undefined) return false
      const range = await rangeAfter(trx, job, cursor, COMMIT_LIMIT)
      if (range === undefined) {
        await repository.endApplied(trx, job)
        return false
      }
      await writeRange(trx, rules, job, range)
      await repository.moveCursor(trx, job, range.last)
      return true
    })

  /**
   * Releases the values that a cancelled or interrupted job has reserved, then ends the job, in the
   * background.
   */
  function abandon(job: Job, endJob: () => Promise<void>): void {
    const abandoning = releaseAndEnd(job, endJob, onError).then(() => {
      background.delete(job.id)
    })
    background.set(job.id, abandoning)
  }

  /** Releases the values that a cancelled job has reserved, in the background. */
  const endCancelled = (job: Job): void => abandon(job, () => repository.endCancelling(job))

  return {
    commit: (async (job, options = {}) => {
      try {
        return await writes.turn(job, (turn) => commitIn(turn, job, options), options.signal)
      } catch (error) {
        requireConnected(options.signal)
        throw error
      } finally {
        // The loop that commits running jobs itself is awake.
        if (job.state !== 'running') wake()
      }
    }) satisfies Commit,

    /**
     * Releases the values that a job in the background has reserved, before it fails.
     *
     * @param signal aborted when this node no longer holds the job.
     */
    async release(job: Job, signal: AbortSignal): Promise<void> {
      if (await reservation.isNeeded(job)) await writes.turn(job, () => release(job), signal)
    },

    /** Resumes changes that were committed. Call it before requests are served. */
    async restore(): Promise<void> {
      for (const job of await repository.abandonedArrays()) await reservation.release(job)
      for (const job of await repository.applying()) {
        if (background.has(job.id)) continue
        writes.restore(job, createUnapplied(store, rules, job))
        background.set(job.id, apply(job))
      }
      for (const job of await repository.abandonedPatches()) {
        abandon(job, () => repository.discard([job.id]))
      }
      for (const job of await repository.cancelling()) endCancelled(job)
    },

    endCancelled,

    /** Discards a job once it is applied. */
    async discard({ id }: Job): Promise<void> {
      if (background.has(id)) dropped.add(id)
      else await repository.discard([id])
    },

    async stop(): Promise<void> {
      stopping.abort()
      await Promise.all(background.values())
    },
  }
}

/** Resolves after a delay, or earlier if the signal is aborted. */
const later = (ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms).unref()
    signal.addEventListener('abort', end)
    if (signal.aborted) end()
  })
