import { randomBytes } from 'node:crypto'
import type { Transaction } from 'kysely'
import type { Tables } from '../storage/tables.ts'
import { type Job, PROGRESS_COLUMNS, toProgress } from './job.ts'

/** How long a node holds a job after each step or renewal, ms. */
export const LEASE = 15_000

/**
 * Calls a function regularly, several times within a {@link LEASE}. Returns a function that stops
 * it.
 */
export type RenewalTimer = (renew: () => void) => () => void

export const renewalTimer: RenewalTimer = (renew) => {
  const timer = setInterval(renew, LEASE / 3).unref()
  return () => clearInterval(timer)
}

/**
 * Thrown if this node no longer holds a job: it was deleted or discarded, or another node took it
 * over.
 */
export class LeaseLost extends Error {}

/** The leases of one node on the jobs of a store. */
export type Lease = ReturnType<typeof createLease>

/** Returns the leases of this node. For the clocks, see `JobsDeps`. */
export function createLease(now: () => number, leaseClock: () => number) {
  const nodeId = randomBytes(8).toString('hex')
  const renewal = () => ({ claimed_by: nodeId, claimed_until: leaseClock() + LEASE })

  /** Updates an unfinished job that this node holds; otherwise throws {@link LeaseLost}. */
  async function updateHeld(
    trx: Transaction<Tables>,
    job: Job,
    set: Partial<Tables['jobs']>,
  ): Promise<Job> {
    const row = await trx
      .updateTable('jobs')
      .set({ ...renewal(), updated_at: now(), ...set })
      .where('id', '=', job.id)
      .where('claimed_by', '=', nodeId)
      .where('state', 'in', ['preparing', 'running'])
      .where('done', '=', job.done)
      // Not the request, whose patch may be large.
      .returning(PROGRESS_COLUMNS)
      .executeTakeFirst()
    if (row === undefined) throw new LeaseLost()
    return { ...job, ...toProgress(row) }
  }

  return { nodeId, renewal, updateHeld }
}
