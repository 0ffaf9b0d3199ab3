import type { Transaction } from 'kysely'
import type { JobResult } from '../../contract/job.ts'
import type { Failure } from '../../failure.ts'
import { retryConflicts } from '../../storage/availability/retry-conflicts.ts'
import type { Change } from '../../storage/changes/transactions.ts'
import { requireSchema } from '../../storage/current-schema.ts'
import { requireDatabase } from '../../storage/sql/database-exists.ts'
import type { Store } from '../../storage/store.ts'
import type { Tables } from '../../storage/tables.ts'
import type { Job, StagedDocument } from '../job.ts'
import type { Lease } from './lease.ts'
import { insert } from './staging.ts'

/** One step of a job. */
export interface Step {
  /** Number of documents that were scanned. */
  readonly scanned: number
  readonly cursor: string | null
  /** Number of documents that will be created, changed or deleted, or are listed. */
  readonly found: number
  /** The documents to stage; empty for a listing. */
  readonly staged: readonly StagedDocument[]
}

/** Returns the queries that store the progress and the end of jobs. */
export function createProgress({ engine, transaction, change }: Store, { updateHeld }: Lease) {
  /**
   * Checks that the documents of a job were validated by the collection's current schema.
   *
   * @throws SchemaChanged
   */
  async function requireValidated(trx: Transaction<Tables>, job: Job): Promise<void> {
    if (job.kind !== 'create' && job.kind !== 'patch') return
    await requireSchema(trx, engine, job, job.request.schema)
  }

  return {
    /** Stores a step and the job's progress, both or neither. */
    advance(job: Job, { scanned, cursor, staged, ...step }: Step): Promise<Job> {
      const [done, found] = [job.done + scanned, job.found + step.found]
      return transaction(async (trx) => {
        const next = await updateHeld(trx, job, { cursor, done, found })
        await insert(trx, job, staged)
        return next
      })
    },

    /** Stores the progress of an import in the transaction that stores its documents. */
    advanceImport(
      trx: Transaction<Tables>,
      job: Job,
      { cursor, result, done }: { cursor: string; result: JobResult; done: number },
    ): Promise<Job> {
      const found = result.created + result.replaced
      const stored = JSON.stringify(result)
      return updateHeld(trx, job, { cursor, found, result: stored, done: job.done + done })
    },

    /**
     * Completes a job, with its last change in the same transaction.
     *
     * @param apply called again if PostgreSQL ends the transaction because of a conflict
     * (`retryConflicts`).
     * @param keep whether the staged rows are kept until the job is discarded.
     * @throws Failure `database-not-found` if the database was dropped; SchemaChanged
     */
    finish(
      job: Job,
      apply: (trx: Transaction<Tables>) => Promise<number>,
      { keep = false }: { readonly keep?: boolean } = {},
    ): Promise<Job> {
      const clean = keep ? 1 : 0
      // The cursor of a listing marks the end of its results.
      const end = { state: 'done', clean, cursor: job.kind === 'list' ? job.cursor : null }
      const complete = async (trx: Transaction<Tables>) => {
        const ended = await updateHeld(trx, job, end)
        const found = await apply(trx)
        await trx.updateTable('jobs').set({ found }).where('id', '=', job.id).execute()
        // Checked last, because PostgreSQL lets another node drop the database during this change.
        await requireDatabase(trx, job.database)
        await requireValidated(trx, job)
        return { ...ended, found }
      }
      return retryConflicts(
        () => transaction(complete, 'long'),
        () => true,
      )
    },

    /**
     * Commits a job whose documents are written afterwards.
     *
     * @throws Failure `database-not-found`; SchemaChanged
     */
    commit(job: Job, { keep = false }: { readonly keep?: boolean } = {}): Promise<Job> {
      return transaction(async (trx) => {
        const state = { state: 'applying', cursor: '', clean: keep ? 1 : 0 }
        const committed = await updateHeld(trx, job, state)
        await requireDatabase(trx, job.database)
        await requireValidated(trx, job)
        return committed
      })
    },

    /** Ends a job with a failure. */
    fail: (job: Job, failure: Failure): Promise<Job> =>
      transaction((trx) => updateHeld(trx, job, failed(failure))),

    /**
     * Ends a job whose end the audit log records, in the same transaction.
     *
     * @throws Failure `database-not-found` if the database was dropped
     */
    endAudited: (
      job: Job,
      failure: Failure | undefined,
      record: (trx: Change) => Promise<void>,
    ): Promise<Job> =>
      change(async (trx) => {
        const ended = await updateHeld(
          trx,
          job,
          failure === undefined ? { state: 'done' } : failed(failure),
        )
        if (failure === undefined) await requireDatabase(trx, job.database)
        await record(trx)
        return ended
      }),
  }
}

const failed = ({ code, message, details }: Failure) => ({
  state: 'failed',
  failure: JSON.stringify({ code, message, details }),
})
