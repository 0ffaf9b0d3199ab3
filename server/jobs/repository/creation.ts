import { randomBytes } from 'node:crypto'
import { sql, type Transaction } from 'kysely'
import { type JobKind, MAX_UNFINISHED_JOBS } from '../../contract/job.ts'
import { Failure } from '../../failure.ts'
import type { CollectionRef } from '../../storage/document-ref.ts'
import type { Store } from '../../storage/store.ts'
import type { Tables } from '../../storage/tables.ts'
import { type Job, type JobRequest, type JobState, toJob } from '../job.ts'
import { LEASE, type Lease } from './lease.ts'

/** A job that is not stored yet. */
export interface NewJob {
  readonly where: CollectionRef
  readonly kind: JobKind
  /** Any node may claim the job if it is `running`; otherwise this node holds it. */
  readonly state: JobState
  readonly request: JobRequest
  /** The id of the caller (`Caller`). */
  readonly caller?: string | undefined
}

/** Returns the queries that store new jobs and limit their number. For the clocks, see `JobsDeps`. */
export function createCreation(
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
