import type { Store } from '../store.ts'

/** Inserts databases whose ids are their names. */
export async function storeDatabases({ db }: Store, ...names: readonly string[]): Promise<void> {
  const rows = names.map((name) => ({ name, id: name, created_at: 0 }))
  await db.insertInto('databases').values(rows).execute()
}
