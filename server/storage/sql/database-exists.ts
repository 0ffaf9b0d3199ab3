import { type Kysely, type RawBuilder, sql } from 'kysely'
import { SYSTEM_DATABASE } from '../../contract/database.ts'
import { databaseNotFound } from '../../failure.ts'
import type { Tables } from '../tables.ts'

/**
 * Returns a condition that a database still exists, for statements that write into it. A node's
 * cached state may be a few seconds old, so the statement itself has to check. `_system` always
 * exists.
 *
 * In a compiled statement, the condition adds the id as two consecutive parameters.
 */
export const databaseExists = (id: string | RawBuilder<string>) =>
  sql<boolean>`(${id} = '_system' or exists (select 1 from databases where databases.id = ${id}))`

/**
 * Checks that a database with this id exists.
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
  if (found === undefined) throw databaseNotFound()
}
