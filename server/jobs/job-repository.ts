import { randomBytes } from 'node:crypto'
import { sql, type Transaction } from 'kysely'
import {
  type ImportJobResult,
  type JobKind,
  type JobResult,
  MAX_UNFINISHED_JOBS,
} from '../contract/job.ts'
import type { StoredPart } from '../documents/import/stored-part.ts'
import { Failure } from '../failure.ts'
import type { Change } from '../storage/changes/transactions.ts'
import type { CollectionRef } from '../storage/document-ref.ts'
import { requireDatabase } from '../storage/sql/database-exists.ts'
import type { Store } from '../storage/store.ts'
import type { Tables } from '../storage/tables.ts'
import { createClaims } from './claims.ts'
import { createCleanup } from './cleanup.ts'
import { type Job, type JobRequest, type JobState, toJob } from './job.ts'
import { createLease, LEASE, type Lease, renewalTimer } from './lease.ts'

/** The jobs of a store, with the leases of one node. */
export type JobRepository = ReturnType<typeof createJobRepository>

/** Returns the repository of jobs. For the clocks, see `JobsDeps`. */
export function createJobRepository(
  store: Store,
  now: () => number,
  leaseClock = now,
  timer = renewalTimer,
) {
  const { db } = store
  const lease = createLease(now, leaseClock)
  const kept = new Set<{ readonly id: string }>()

  return {
    async read(id: string): Promise<Job | undefined> {
      const row = await db.selectFrom('jobs').selectAll().where('id', '=', id).executeTakeFirst()
      return row && toJob(row)
    },

    /**
     * Returns the failure of a request whose job this node no longer holds.
     *
     * @throws Failure `database-not-found` if the database was dropped
     */
    async lostFailure(database: string): Promise<Failure> {
      await requireDatabase(db, database)
      return new Failure('unavailable', 'The change was cancelled. Nothing was changed.')
    },

    ...createCreation(store, lease, now, leaseClock),
    ...createClaims(store, lease, leaseClock, timer, kept),
    ...createParts(store, lease),
    ...createProgress(store, lease),
    ...createCancellation(store, now),
    ...createCleanup(store, now, leaseClock, kept),
  }
}

/** Returns the queries that cancel jobs. */
function createCancellation({ transaction, change }: Store, now: () => number) {
  async function cancel(trx: Transaction<Tables>, { id }: Job): Promise<Job | undefined> {
    const row = await trx
      .updateTable('jobs')
      .set({ state: 'cancelled', updated_at: now() })
      .where('id', '=', id)
      .where('state', '=', 'running')
      .returningAll()
      .executeTakeFirst()
    return row && toJob(row)
  }

  return {
    /**
     * Cancels a running job, after the step in progress: no node can store anything for it from now
     * on. Returns undefined if the job is not running.
     */
    cancel: (job: Job): Promise<Job | undefined> => transaction((trx) => cancel(trx, job)),

    /** Cancels a job whose end the audit log records, in the same transaction. */
    cancelAudited: (
      job: Job,
      record: (trx: Change, job: Job) => Promise<void>,
    ): Promise<Job | undefined> =>
      change(async (trx) => {
        const cancelled = await cancel(trx, job)
        if (cancelled !== undefined) await record(trx, cancelled)
        return cancelled
      }),
  }
}

/** Number of rows per insert, because engines limit the parameters of a statement. */
const INSERT_ROWS = 100

/** Returns the queries on the parts of imports, which jobs store after their requests have ended. */
function createParts({ db, transaction }: Store, { updateHeld }: Lease) {
  return {
    /** Stores parts of an import, after `before` others. */
    stageParts(job: Job, parts: readonly StoredPart[], before: number): Promise<Job> {
      const records = parts.reduce((sum, part) => sum + part.records, job.total ?? 0)
      return transaction(async (trx) => {
        const next = await updateHeld(trx, job, { total: records })
        for (let at = 0; at < parts.length; at += INSERT_ROWS) {
          const rows = parts.slice(at, at + INSERT_ROWS).map(({ text }, offset) => {
            return { job: job.id, id: partId(before + at + offset), seen: '', tag: '', body: text }
          })
          await trx.insertInto('job_documents').values(rows).execute()
        }
        return next
      })
    },

    /** Returns the part of an import after another one; `after` is empty for the first. */
    partAfter: ({ id: job }: Job, after: string) =>
      db
        .selectFrom('job_documents')
        .select(['id', 'body as text'])
        .where('job', '=', job)
        .where('id', '>', after)
        .orderBy('id')
        .limit(1)
        .executeTakeFirst(),
  }
}

/** Returns ids that sort by number. */
const partId = (number: number) => String(number).padStart(12, '0')

/** A job that is not stored yet. */
interface NewJob {
  readonly where: CollectionRef
  readonly kind: JobKind
  /** Any node may claim the job if it is `running`; otherwise this node holds it. */
  readonly state: JobState
  readonly request: JobRequest
  /** The id of the caller (`Caller`). */
  readonly caller?: string | undefined
}

/** Returns the queries that store new jobs and limit their number. For the clocks, see `JobsDeps`. */
function createCreation(
  { engine, transaction }: Store,
  lease: Lease,
  now: () => number,
  leaseClock: () => number,
) {
  const rowOf = ({ where, kind, state, request, caller }: NewJob): Tables['jobs'] => {
    const at = now()
    return {
      id: randomBytes(16).toString('base64url'),
      database: where.database,
      collection: where.collection,
      kind,
      state,
      request: JSON.stringify(request),
      cursor: null,
      done: 0,
      total: null,
      found: 0,
      failure: null,
      result: null,
      clean: 0,
      claimed_by: lease.nodeId,
      claimed_until: state === 'running' ? 0 : leaseClock() + LEASE,
      created_at: at,
      updated_at: at,
      created_by: caller ?? null,
    }
  }

  return {
    /**
     * Stores a job unless its database has too many.
     *
     * @throws Failure `too-many-requests`
     */
    create(job: NewJob): Promise<Job> {
      const { database } = job.where
      return transaction(async (trx) => {
        // Simultaneous requests would otherwise count before any of them inserts.
        if (engine === 'postgres') await lockNewJobs(trx, database)
        const row = rowOf(job)
        await requireWithinLimits(trx, row)
        await trx.insertInto('jobs').values(row).execute()
        return toJob(row)
      })
    },
  }
}

/** Waits for other transactions that add a job to a database. They wait until this one ends. */
async function lockNewJobs(trx: Transaction<Tables>, database: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('new jobs'), hashtext(${database}))`.execute(trx)
}

/**
 * Throws if there are too many unfinished jobs. Listings count separately, because
 * callers who may only read must not prevent changes.
 */
async function requireWithinLimits(
  trx: Transaction<Tables>,
  job: Pick<Tables['jobs'], 'database' | 'kind'>,
): Promise<void> {
  const { count } = await trx
    .selectFrom('jobs')
    .select(({ fn }) => fn.countAll().as('count'))
    .where('state', 'in', ['preparing', 'running'])
    .where('database', '=', job.database)
    .where('kind', job.kind === 'list' ? '=' : '!=', 'list')
    .executeTakeFirstOrThrow()
  if (Number(count) < MAX_UNFINISHED_JOBS) return
  throw new Failure('too-many-requests', 'This database has too many running jobs.')
}

/** One step of a job. */
interface Step {
  /** Number of documents that were read. */
  readonly scanned: number
  readonly cursor: string | null
  /** Number of documents that were changed or deleted, or are listed. */
  readonly found: number
  readonly result: JobResult | null
}

/** Returns the queries that store the progress and the end of jobs. */
function createProgress({ transaction, change }: Store, { updateHeld }: Lease) {
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
