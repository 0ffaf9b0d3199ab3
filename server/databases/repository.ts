import { nextRevision } from '../storage/next-revision.ts'
import type { Store } from '../storage/open.ts'

/** The names of all stored databases; `_system` is not stored, it always is. */
export async function readDatabases(store: Store): Promise<string[]> {
  const rows = await store.db.selectFrom('databases').select('name').execute()
  return rows.map((row) => row.name)
}

/** Stores a database; false if it is there already. Durable when it resolves. */
export function insertDatabase(store: Store, name: string, now: number): Promise<boolean> {
  return store.db.transaction().execute(async (trx) => {
    const result = await trx
      .insertInto('databases')
      .values({ name, created_at: now })
      .onConflict((conflict) => conflict.column('name').doNothing())
      .executeTakeFirst()
    const inserted = (result.numInsertedOrUpdatedRows ?? 0n) > 0n
    if (inserted) await nextRevision(trx)
    return inserted
  })
}

/** Removes a database; false if it was not there. Durable when it resolves. */
export function deleteDatabase(store: Store, name: string): Promise<boolean> {
  return store.db.transaction().execute(async (trx) => {
    const result = await trx.deleteFrom('databases').where('name', '=', name).executeTakeFirst()
    const found = result.numDeletedRows > 0n
    if (found) await nextRevision(trx)
    return found
  })
}
