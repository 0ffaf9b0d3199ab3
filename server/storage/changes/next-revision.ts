import type { Change } from './transactions.ts'

/**
 * Raises the store-wide revision and returns its new value. Its row stays locked until the
 * transaction ends, so revisions are handed out in the order in which the changes commit, and a
 * transaction that rolls back leaves no gap.
 */
export async function nextRevision(trx: Change): Promise<number> {
  const { value } = await trx
    .updateTable('counters')
    .set((eb) => ({ value: eb('value', '+', 1) }))
    .where('name', '=', 'revision')
    .returning('value')
    .executeTakeFirstOrThrow()
  return value
}
