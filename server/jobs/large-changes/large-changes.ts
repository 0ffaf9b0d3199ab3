import { invariant } from '../../contract/invariant.ts'
import { Failure } from '../../failure.ts'
import type { CollectionWrites, Turn } from '../../storage/changes/collection-writes.ts'
import type { Store } from '../../storage/open.ts'
import { withTimeLimit } from '../apply.ts'
import type { DocumentRules, Job, Merge } from '../job.ts'
import { rangeAfter } from '../range.ts'
import type { JobRepository } from '../repository.ts'
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
  readonly now: () => number
  readonly pause: () => Promise<unknown>
  readonly onError: (error: unknown) => void
  /** Triggers the deletion of the rows of ended jobs. */
  readonly wake: () => void
  /** Applies a job in the transaction that ends it. */
  readonly applyInTransaction: (job: Job, keep: boolean) => Promise<Job>
}

/**
 * Returns the engine for large changes on SQLite, where a long transaction would block all other
 * writes (docs/decisions/0020-redo-log-for-large-changes.md). The rows that a job has staged are
 * its redo log. A small transaction commits the job, and the change is visible from then on. The
 * documents are written afterwards in steps, between which other requests can write; after a crash,
 * the next start resumes. Until then, readers combine stored documents with the log, and a request
 * that writes a document first applies the change to it.
 *
 * Nothing can fail after the commit: the staged rows are checked against all concurrent writes, later
 * writes wait for the commit, and new documents have reserved their values in unique indexes.
 */
export function createLargeChanges(deps: LargeChangesDeps) {
  const { store, writes, repository, rules, now, pause, onError, wake, applyInTransaction } = deps
  const { db, transaction } = store
  const { reserve, release, changesUniqueValues } = createReservation(deps)
  const applying = new Map<string, Promise<void>>()
  /** Jobs to delete once they are applied. */
  const dropped = new Set<string>()
  const stopping = Promise.withResolvers<void>()
  let stopped = false

  /** Checks the staged documents of a job against the stored ones; returns the updated job. */
  async function recheck(
    job: Job,
    merge: Merge | undefined,
    ids?: readonly string[],
  ): Promise<Job> {
    let checked = job
    for (let after = ''; ; ) {
      const range = ids === undefined ? await rangeAfter(db, job, after, COMMIT_LIMIT) : undefined
      if (ids === undefined && range === undefined) return checked
      const changed = await repository.changed(checked, ids ?? range ?? [])
      if (changed.length > 0) checked = await restage(checked, merge, changed)
      if (range === undefined) return checked
      after = range.last
      await pause()
    }
  }

  async function restage(
    job: Job,
    merge: Merge | undefined,
    changed: Awaited<ReturnType<JobRepository['changed']>>,
  ): Promise<Job> {
    if (job.kind === 'create') {
      const [first] = changed
      invariant(first, 'a job is staged again because documents have changed')
      throw exists(first.id)
    }
    const staged: { id: string; seen: string; tag: string; body: string }[] = []
    const matches = rules.matcher(job.request.filter)
    for (const { id, tag, body } of changed) {
      if (tag === null || body === null || !(await matches(body))) continue
      if (merge === undefined) staged.push({ id, seen: tag, tag: '', body: '' })
      else staged.push({ id, seen: tag, tag: rules.createTag(), body: await merge(id, body) })
    }
    return repository.restage(
      job,
      changed.map(({ id }) => id),
      staged,
    )
  }

  /** Commits a job. Releases the values that it has reserved in unique indexes if it fails. */
  async function commitIn(turn: Turn, job: Job, keep: boolean): Promise<Job> {
    const isSmall = await isSmallChange(job)
    if (isSmall || job.kind !== 'create') return commitReserved(turn, job, keep, isSmall)
    try {
      await reserve(job)
      return await commitReserved(turn, job, keep, isSmall)
    } catch (error) {
      await release(job).catch(onError)
      throw error
    }
  }

  async function commitReserved(
    turn: Turn,
    job: Job,
    keep: boolean,
    isSmall: boolean,
  ): Promise<Job> {
    const { patch } = job.request
    const merge = patch === undefined ? undefined : await rules.merger(job, patch)
    turn.watch()
    let checked = await recheck(job, merge)
    const checkWritten = async (by: Merge | undefined) => {
      const ids = [...turn.written].slice(0, CHECK_BATCH)
      for (const id of ids) turn.written.delete(id)
      checked = await recheck(checked, by, ids)
    }
    for (let round = 0; turn.written.size > CHECK_BATCH / 10 && round < MAX_ROUNDS; round++) {
      await checkWritten(merge)
      await pause()
    }
    const inTransaction = isSmall || (await changesUniqueValues(job))
    await turn.close()
    // Writes wait from here on, so slow schema validation must be limited.
    const timedMerge = merge && withTimeLimit(merge, now)
    while (turn.written.size > 0) await checkWritten(timedMerge)
    if (inTransaction) return applyInTransaction(checked, keep)
    const committed = await repository.commit(checked, keep)
    turn.commit(createUnapplied(store, rules, committed))
    startApplying(committed)
    return committed
  }

  async function isSmallChange(job: Job): Promise<boolean> {
    const first = await rangeAfter(db, job, '', COMMIT_LIMIT)
    return (
      first === undefined || (await rangeAfter(db, job, first.last, COMMIT_LIMIT)) === undefined
    )
  }

  function startApplying(job: Job): void {
    applying.set(job.id, apply(job))
  }

  async function apply(job: Job): Promise<void> {
    for (let isFailing = false; !stopped; ) {
      try {
        if (!(await step(job))) break
        isFailing = false
        await pause()
      } catch (error) {
        if (!isFailing) onError(error)
        isFailing = true
        await Promise.race([stopping.promise, later(RETRY_DELAY)])
      }
    }
    if (stopped) return
    writes.applied(job)
    // From here on, the caller of `discard` deletes the job.
    applying.delete(job.id)
    if (dropped.delete(job.id)) await repository.discard([job.id]).catch(onError)
    wake()
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

  return {
    /**
     * Writes some documents; returns false if none are left, or if the job was discarded or its
     * database was dropped.
     */
    commit: (job: Job, keep = false): Promise<Job> =>
      writes.turn(job, (turn) => commitIn(turn, job, keep)),

    /** Resumes changes that were committed before a restart. Call it before requests are served. */
    async restore(): Promise<void> {
      for (const job of await repository.attached()) await release(job)
      for (const job of await repository.applying()) {
        if (applying.has(job.id)) continue
        writes.restore(job, createUnapplied(store, rules, job))
        startApplying(job)
      }
    },

    /** Discards a job once it is applied. */
    async discard({ id }: Job): Promise<void> {
      if (applying.has(id)) dropped.add(id)
      else await repository.discard([id])
    },

    async stop(): Promise<void> {
      stopped = true
      stopping.resolve()
      await Promise.all(applying.values())
    },
  }
}

const later = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms).unref())

const exists = (id: string) =>
  new Failure(
    'conflict',
    `A document with the id ${JSON.stringify(id.slice(0, 64))} exists already.`,
  )
