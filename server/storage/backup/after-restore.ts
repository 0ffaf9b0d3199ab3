import type { Transaction } from 'kysely'
import type { Tables } from '../tables.ts'

/**
 * Adjusts a restored store to changes that were made after the backup:
 * - Revisions continue from the current time in ms, so that revisions seen by clients or nodes
 *   after the backup are not reused.
 * - Claims on jobs are released, so that the next node can continue them.
 * - Indexes of documents are built again, because a backup does not contain their entries.
 * - Proposed endpoints that no node had opened are deleted.
 */
export async function adjustRestored(trx: Transaction<Tables>, now: number): Promise<void> {
  await trx
    .updateTable('counters')
    .set({ value: now })
    .where('name', '=', 'revision')
    .where('value', '<', now)
    .execute()
  await trx.updateTable('jobs').set({ claimed_until: 0 }).execute()
  await trx
    .updateTable('document_indexes')
    .set({ state: 'building', cursor: null, done: 0, total: null })
    .where('state', 'in', ['building', 'ready'])
    .execute()
  await trx.deleteFrom('endpoints').where('proposal', 'is not', null).execute()
}
