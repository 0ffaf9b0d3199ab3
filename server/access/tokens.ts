import { randomUUID } from 'node:crypto'
import type { Actor } from '../contract/audit.ts'
import { DATABASE_NAME_RULE, isDatabaseName } from '../contract/database.ts'
import { atLeast, type Role } from '../contract/role.ts'
import { TOKEN_DATABASES, type TokenInfo, type TokenInput } from '../contract/token.ts'
import { Failure } from '../failure.ts'
import type { Store } from '../storage/open.ts'
import type { Recorder } from '../storage/recorder.ts'
import type { PeopleTable, TokensTable } from '../storage/tables.ts'
import { createTokenText, hashSecret } from './secret-text.ts'

/** Somebody who makes or revokes tokens. */
export interface TokenOwner {
  readonly personId: string
  readonly role: Role
  /** By what they are known. A token makes no more than it is itself. */
  readonly by?: 'session' | 'token'
  /** The scope of that token; null or missing: every database. */
  readonly databases?: readonly string[] | null
  /** When it ends, ms since 1970; null or missing: never. */
  readonly expires?: number | null
}

/** What tokens are made of. */
export interface TokenDeps {
  readonly store: Store
  readonly record: Recorder
  readonly now: () => number
}

/**
 * Makes a token for its owner and answers it together with what will be listed. The text is not
 * stored, only its hash: it is shown this once.
 *
 * @throws Failure `forbidden` for a role above the owner's, and for a scope or an end beyond those
 * of the token that asks; `bad-parameter`, `bad-database-name`.
 */
export async function createToken(
  { store, record, now }: TokenDeps,
  owner: TokenOwner,
  input: TokenInput,
  actor: Actor,
): Promise<{ token: string; info: TokenInfo }> {
  if (!atLeast(owner.role, input.role)) {
    throw new Failure('forbidden', `A token cannot be more than its owner, who is ${owner.role}.`)
  }
  const created = now()
  const expires = input.expires == null ? null : Date.parse(input.expires)
  if (expires !== null && !(expires > created)) {
    throw new Failure('bad-parameter', 'expires: a time to come, such as 2027-01-31T00:00:00Z.')
  }
  const databases = input.databases == null ? null : [...new Set(input.databases)]
  if (databases !== null && databases.length > TOKEN_DATABASES) {
    throw new Failure('bad-parameter', 'databases: at most 1,000 names.')
  }
  const bad = databases?.find((name) => !isDatabaseName(name))
  if (bad !== undefined) {
    const shown = JSON.stringify(bad.slice(0, 64))
    throw new Failure('bad-database-name', `${shown} is no database name. ${DATABASE_NAME_RULE}`)
  }
  if (databases?.length === 0) {
    throw new Failure('bad-parameter', 'databases: name one at least, or leave it out for all.')
  }
  if (owner.by === 'token') requireWithin(owner, databases, expires)
  const token = createTokenText()
  const row: TokensTable = {
    id: randomUUID(),
    name: input.name,
    prefix: token.slice(0, 8),
    hash: hashSecret(token),
    owner_id: owner.personId,
    role: input.role,
    databases: databases && JSON.stringify(databases),
    created_at: created,
    expires_at: expires,
    last_used_at: null,
  }
  return store.change(async (trx) => {
    const { username } = await trx
      .selectFrom('people')
      .select('username')
      .where('id', '=', owner.personId)
      .executeTakeFirstOrThrow()
    await trx.insertInto('tokens').values(row).execute()
    const info = toInfo({ ...row, username })
    await record(trx, {
      actor,
      action: 'token.create',
      target: `${username}/${row.name}`,
      outcome: 'done',
      before: null,
      after: { id: row.id, role: row.role, databases, expires: info.expires },
    })
    return { token, info }
  })
}

/** Refuses a token that reaches further, or lasts longer, than the one that makes it. */
function requireWithin(
  { databases: scope = null, expires: end = null }: TokenOwner,
  databases: readonly string[] | null,
  expires: number | null,
): void {
  const own = new Set(scope)
  if (scope !== null && !(databases?.every((name) => own.has(name)) ?? false)) {
    throw new Failure(
      'forbidden',
      `A token makes only tokens for its own databases: ${scope.join(', ')}.`,
    )
  }
  if (end !== null && (expires === null || expires > end)) {
    throw new Failure(
      'forbidden',
      `A token makes only tokens that end with it, on ${time(end)}, or before.`,
    )
  }
}

/** The tokens of one owner, or everybody's; by owner, then name. */
export async function listTokens(store: Store, owner: string | 'everybody'): Promise<TokenInfo[]> {
  const rows = await store.db
    .selectFrom('tokens')
    .innerJoin('people', 'people.id', 'tokens.owner_id')
    .selectAll('tokens')
    .select('people.username')
    .$if(owner !== 'everybody', (query) => query.where('tokens.owner_id', '=', owner))
    .execute()
  return rows.map(toInfo).sort((a, b) => (a.owner + a.name < b.owner + b.name ? -1 : 1))
}

/**
 * Revokes a token; durable when it resolves with the id of its owner.
 *
 * @throws Failure `not-found`, also for a token of somebody else, unless `owner` is an admin.
 */
export function revokeToken(
  { store, record }: Pick<TokenDeps, 'store' | 'record'>,
  owner: TokenOwner,
  id: string,
  actor: Actor,
): Promise<string> {
  return store.change(async (trx) => {
    const row = await trx
      .deleteFrom('tokens')
      .where('id', '=', id)
      .$if(owner.role !== 'admin', (query) => query.where('owner_id', '=', owner.personId))
      .returning(['name', 'owner_id', 'role'])
      .executeTakeFirst()
    if (row === undefined) throw new Failure('not-found', 'There is no such token.')
    const { username } = await trx
      .selectFrom('people')
      .select('username')
      .where('id', '=', row.owner_id)
      .executeTakeFirstOrThrow()
    await record(trx, {
      actor,
      action: 'token.revoke',
      target: `${username}/${row.name}`,
      outcome: 'done',
      before: { id, role: row.role },
      after: null,
    })
    return row.owner_id
  })
}

/** A token with its owner. */
export type FoundToken = Pick<
  TokensTable,
  'id' | 'role' | 'databases' | 'expires_at' | 'last_used_at' | 'owner_id'
> &
  Pick<PeopleTable, 'username' | 'provider'> & {
    readonly person_name: string | null
    readonly owner_role: string
  }

/** Finds a token by its hash; whether it has expired is the caller's to judge. */
export function findToken(store: Store, hash: string): Promise<FoundToken | undefined> {
  return store.db
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
    .where('tokens.hash', '=', hash)
    .executeTakeFirst()
}

const time = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString())

function toInfo(row: TokensTable & { username: string }): TokenInfo {
  return {
    id: row.id,
    name: row.name,
    prefix: row.prefix,
    owner: row.username,
    ownerId: row.owner_id,
    role: row.role as Role,
    databases: row.databases === null ? null : (JSON.parse(row.databases) as string[]),
    created: new Date(row.created_at).toISOString(),
    expires: time(row.expires_at),
    lastUsed: time(row.last_used_at),
  }
}
