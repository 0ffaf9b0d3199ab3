import { type Kysely, sql } from 'kysely'
import { SYSTEM_DATABASE } from '../contract/database.ts'
import { Failure } from '../failure.ts'
import type { Tables } from './tables.ts'

/**
 * A condition for statements that write into a database: it still exists. A node may act on state
 * that is some seconds old, so the statement itself has to check. `_system` always exists.
 *
 * A compiled statement has the id as two parameters here, one after the other.
 */
export const databaseExists = (id: string) =>
  sql<boolean>`(${id} = '_system' or exists (select 1 from databases where databases.id = ${id}))`

/**
 * Checks that a database exists, by its id.
 *
 * @throws Failure `database-not-found`
 */
export async function requireDatabase(db: Kysely<Tables>, id: string): Promise<void> {
  if (id === SYSTEM_DATABASE) return
  const found = await db
    .selectFrom('databases')
    .select('id')
    .where('id', '=', id)
    .executeTakeFirst()
  if (found === undefined) throw new Failure('database-not-found', 'database not found')
}
