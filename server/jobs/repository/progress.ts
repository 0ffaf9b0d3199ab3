import type { Transaction } from 'kysely'
import type { ImportJobResult, JobResult } from '../../contract/job.ts'
import type { Failure } from '../../failure.ts'
import type { Change } from '../../storage/changes/transactions.ts'
import { requireDatabase } from '../../storage/sql/database-exists.ts'
import type { Store } from '../../storage/store.ts'
import type { Tables } from '../../storage/tables.ts'
import type { Job } from '../job.ts'
import type { Lease } from './lease.ts'

/** One step of a job. */
export interface Step {
  /** Number of documents that were read. */
  readonly scanned: number
  readonly cursor: string | null
  /** Number of documents that were changed or deleted, or are listed. */
  readonly found: number
  readonly result: JobResult | null
}

/** Returns the queries that store the progress and the end of jobs. */
export function createProgress({ transaction, change }: Store, { updateHeld }: Lease) {
  return {
    /**
     * Stores the progress of a job.
     *
     * @param trx the transaction that stores the changes of the step; by default one of its own.
     */
    advance(
      job: Job,
      { scanned, cursor, found, result }: Step,
      trx?: Transaction<Tables>,
    ): Promise<Job> {
      const progress = {
        cursor,
        done: job.done + scanned,
        found: job.found + found,
        result: result && JSON.stringify(result),
      }
      if (trx !== undefined) return updateHeld(trx, job, progress)
      return transaction((own) => updateHeld(own, job, progress))
    },

    /** Stores the progress of an import in the transaction that stores its documents. */
    advanceImport(
      trx: Transaction<Tables>,
      job: Job,
      { cursor, result, done }: { cursor: string; result: ImportJobResult; done: number },
    ): Promise<Job> {
      const found = result.created + result.replaced
      const stored = JSON.stringify(result)
      return updateHeld(trx, job, { cursor, found, result: stored, done: job.done + done })
    },

    /** Completes a job. @throws Failure `database-not-found` if the database was dropped */
    finish: (job: Job): Promise<Job> =>
      transaction(async (trx) => {
        // The cursor of a listing marks the end of its results.
        const cursor = job.kind === 'list' ? job.cursor : null
        const ended = await updateHeld(trx, job, { state: 'done', cursor })
        await requireDatabase(trx, job.database)
        return ended
      }),

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
