import type { Change } from './transactions.ts'

/**
 * Increments the store-wide revision and returns it. The row stays locked until the transaction
 * ends, so revisions follow commit order, and a rollback leaves no gap.
 */
export async function nextRevision(trx: Change): Promise<number> {
  const { value } = await raiseRevision(trx).executeTakeFirstOrThrow()
  return value
}

/** Returns the statement of {@link nextRevision}. */
export const raiseRevision = (trx: Change) =>
  trx
    .updateTable('counters')
    .set((eb) => ({ value: eb('value', '+', 1) }))
    .where('name', '=', 'revision')
    .returning('value')
