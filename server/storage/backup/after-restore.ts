import type { Transaction } from 'kysely'
import type { Tables } from '../tables.ts'

/**
 * Adjusts a restored store to what happened since its backup, which it does not know:
 * - revisions go on from the present time in ms, so that no revision that a client or a node has seen
 *   after the backup is used again;
 * - jobs are free for the next node to continue;
 * - endpoints that no node had opened yet are dropped.
 */
export async function adjustRestored(trx: Transaction<Tables>, now: number): Promise<void> {
  await trx
    .updateTable('counters')
    .set({ value: now })
    .where('name', '=', 'revision')
    .where('value', '<', now)
    .execute()
  await trx.updateTable('jobs').set({ claimed_until: 0 }).execute()
  await trx.deleteFrom('endpoints').where('proposal', 'is not', null).execute()
}
