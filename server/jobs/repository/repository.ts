import { randomBytes } from 'node:crypto'
import { MAX_SYNC_BULK_DOCUMENTS } from '../../contract/document.ts'
import type { JobKind } from '../../contract/job.ts'
import { Failure } from '../../failure.ts'
import type { CollectionRef } from '../../storage/document-ref.ts'
import { requireDatabase } from '../../storage/sql/database-exists.ts'
import type { Store } from '../../storage/store.ts'
import type { Tables } from '../../storage/tables.ts'
import { type Job, type JobRequest, type JobState, toJob } from '../job.ts'
import { createApplying } from './applying.ts'
import { createCancellation } from './cancellation.ts'
import { createClaims } from './claims.ts'
import { createCleanup } from './cleanup.ts'
import { createLease, LEASE, renewalTimer } from './lease.ts'
import { createProgress } from './progress.ts'
import { createStaging } from './staging.ts'

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
    /** Stores a job. Any node may claim it if it is `running`; otherwise this node holds it. */
    async create(
      { database, collection }: CollectionRef,
      kind: JobKind,
      state: JobState,
      request: JobRequest,
      caller?: string,
    ): Promise<Job> {
      const at = now()
      const row: Tables['jobs'] = {
        id: randomBytes(16).toString('base64url'),
        database,
        collection,
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
      await db.insertInto('jobs').values(row).execute()
      return toJob(row)
    },

    async read(id: string): Promise<Job | undefined> {
      const row = await db.selectFrom('jobs').selectAll().where('id', '=', id).executeTakeFirst()
      return row && toJob(row)
    },

    /**
     * Returns the numbers of unfinished jobs of a database, listings or others: of all callers, and
     * of one.
     *
     * @param except the id of a job that is not counted.
     */
    async countUnfinished(
      database: string,
      which: 'listings' | 'others',
      caller: string | undefined,
      except = '',
    ): Promise<{ readonly all: number; readonly own: number }> {
      const { all, own } = await db
        .selectFrom('jobs')
        .select(({ fn }) => [
          fn.countAll().as('all'),
          fn
            .countAll()
            .filterWhere('created_by', '=', caller ?? null)
            .as('own'),
        ])
        .where('state', 'in', ['preparing', 'attached', 'running'])
        .where('database', '=', database)
        .where('kind', which === 'listings' ? '=' : '!=', 'list')
        .where('id', '!=', except)
        .executeTakeFirstOrThrow()
      return { all: Number(all), own: Number(own) }
    },

    /** Returns the creations of small arrays that requests of an earlier process waited for. */
    async abandonedArrays(): Promise<Job[]> {
      const rows = await db
        .selectFrom('jobs')
        .selectAll()
        .where('state', '=', 'preparing')
        .where('kind', '=', 'create')
        .where('done', '<=', MAX_SYNC_BULK_DOCUMENTS)
        .execute()
      return rows.map(toJob)
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

    ...createClaims(store, lease, leaseClock, timer, kept),
    ...createStaging(store, lease),
    ...createProgress(store, lease),
    ...createApplying(store, now),
    ...createCancellation(store, now),
    ...createCleanup(store, now, leaseClock, kept),
  }
}
