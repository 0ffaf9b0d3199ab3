import { type SqlBool, sql } from 'kysely'
import type { Store } from '../storage/store.ts'
import type { PeopleTable, SessionsTable, TokensTable } from '../storage/tables.ts'

/** The owner of a credential, as its row contains it. */
export type CredentialOwner = Pick<PeopleTable, 'username' | 'provider'> & {
  readonly person_id: string
  readonly person_name: string | null
  readonly person_role: string
  readonly person_databases: string | null
}

const OWNER = [
  'people.id as person_id',
  'people.username',
  'people.name as person_name',
  'people.provider',
  'people.role as person_role',
  'people.databases as person_databases',
] as const

const ownerHasAccess = sql<SqlBool>`people.role <> 'none'`

/** A session joined with its owner. */
export type FoundSession = Pick<
  SessionsTable,
  'hash' | 'id' | 'expires_at' | 'last_seen_at' | 'operator_key'
> &
  CredentialOwner

/** At most one row. Concurrent requests with the same credential may share it. */
type Lookup<Row> = Promise<{ readonly rows: readonly Row[] }>

/**
 * Returns a function that finds the session with the given hash of its secret, if its owner has
 * access. The caller checks its expiry and its operator key.
 */
export function createFindSession({ db, prepareLookup }: Store) {
  const find = prepareLookup<FoundSession>(
    db
      .selectFrom('sessions')
      .innerJoin('people', 'people.id', 'sessions.person_id')
      .select(['sessions.hash', 'sessions.id', 'sessions.expires_at', 'sessions.last_seen_at'])
      .select('sessions.operator_key')
      .select(OWNER)
      .where('sessions.hash', '=', '')
      .where(ownerHasAccess)
      .compile(),
  )
  return (hash: string): Lookup<FoundSession> => Promise.resolve(find(hash))
}

/** A token joined with its owner. */
export type FoundToken = Pick<
  TokensTable,
  'id' | 'name' | 'role' | 'databases' | 'expires_at' | 'last_used_at'
> &
  CredentialOwner

/**
 * Returns functions that find the token with the given hash or id, if its owner has access. The
 * caller checks its expiry.
 */
export function createFindToken({ db, prepareLookup }: Store) {
  const findBy = (column: 'hash' | 'id') => {
    const find = prepareLookup<FoundToken>(
      db
        .selectFrom('tokens')
        .innerJoin('people', 'people.id', 'tokens.owner_id')
        .select(['tokens.id', 'tokens.name', 'tokens.role', 'tokens.databases'])
        .select(['tokens.expires_at', 'tokens.last_used_at'])
        .select(OWNER)
        .where(`tokens.${column}`, '=', '')
        .where(ownerHasAccess)
        .compile(),
    )
    return (key: string): Lookup<FoundToken> => Promise.resolve(find(key))
  }
  return { byHash: findBy('hash'), byId: findBy('id') }
}
