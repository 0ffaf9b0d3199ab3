import { sql } from 'kysely'
import type { Store } from '../storage/open.ts'
import type { PeopleTable, TokensTable } from '../storage/tables.ts'

/** A token joined with its owner. */
export type FoundToken = Pick<
  TokensTable,
  'id' | 'role' | 'databases' | 'expires_at' | 'last_used_at' | 'owner_id'
> &
  Pick<PeopleTable, 'username' | 'provider'> & {
    readonly person_name: string | null
    readonly owner_role: string
  }

/**
 * Returns a function that finds the token with the given hash, if its owner has access. The caller
 * checks its expiry.
 */
export function createFindToken({ db, prepareLookup }: Store) {
  const find = prepareLookup<FoundToken>(
    db
      .selectFrom('tokens')
      .innerJoin('people', 'people.id', 'tokens.owner_id')
      .select([
        'tokens.id',
        'tokens.role',
        'tokens.databases',
        'tokens.expires_at',
        'tokens.last_used_at',
        'tokens.owner_id',
        'people.username',
        'people.provider',
        'people.name as person_name',
        'people.role as owner_role',
      ])
      .where('tokens.hash', '=', '')
      .where('people.role', '<>', sql.lit('none'))
      .compile(),
  )
  return async (hash: string): Promise<FoundToken | undefined> => (await find(hash)).rows[0]
}
