import { Failure } from '../../failure.ts'
import { requireDatabase } from '../../storage/sql/database-exists.ts'
import type { Store } from '../../storage/store.ts'
import { type Job, toJob } from '../job.ts'
import { createCancellation } from './cancellation.ts'
import { createClaims } from './claims.ts'
import { createCleanup } from './cleanup.ts'
import { createCreation } from './creation.ts'
import { createLease, renewalTimer } from './lease.ts'
import { createParts } from './parts.ts'
import { createProgress } from './progress.ts'

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
