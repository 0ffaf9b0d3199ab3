import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { atLeast, type Role, role } from '../contract/access/principal.ts'
import { includesScope, inScope, type Scope } from '../contract/access/scope.ts'
import {
  TOKEN_SCOPES_BYTES,
  TOKENS_PER_PERSON,
  type TokenInfo,
  type TokenInput,
} from '../contract/access/token.ts'
import { SYSTEM_DATABASE } from '../contract/database.ts'
import { toIsoTime } from '../contract/iso-time.ts'
import { compareCodePoints } from '../contract/query/compare-code-points.ts'
import { Failure } from '../failure.ts'
import { hashSecret } from '../secret.ts'
import { beginChange, type Caller } from '../storage/changes/begin-change.ts'
import type { Recorder } from '../storage/changes/recorder.ts'
import { parseColumn, parseScope } from '../storage/sql/parse-column.ts'
import type { Store } from '../storage/store.ts'
import type { TokensTable } from '../storage/tables.ts'
import type { LastUseRecorder } from './last-use-recorder.ts'
import { parseScopeInput } from './parse-scope.ts'
import { createTokenText } from './secrets/secret-text.ts'

/** The person who creates or revokes tokens. */
export interface TokenOwner {
  readonly personId: string
  readonly role: Role
  /**
   * How the caller is authenticated. A token cannot create a token with more access than its own.
   */
  readonly by?: 'session' | 'token'
  /** Databases that the caller is limited to. Default: all databases. */
  readonly databases?: Scope
  /** Expiry of the caller's credential, ms since 1970. Default: none. */
  readonly expires?: number | null
}

export interface TokenDeps {
  readonly store: Store
  readonly record: Recorder
  readonly now: () => number
}

/**
 * Creates a token and returns it with its listing. Only its hash is stored, so the token cannot be
 * shown again.
 *
 * @throws Failure `forbidden` if the role or a database exceeds the owner's, or the databases or
 *   expiry exceed those of the caller's token; `bad-parameter`; `bad-database-name`; `too-many-requests` beyond
 *   {@link TOKENS_PER_PERSON} or {@link TOKEN_SCOPES_BYTES}; the failures of
 *   {@link beginChange}.
 */
export async function createToken(
  { store, record, now }: TokenDeps,
  owner: TokenOwner,
  input: TokenInput,
  actor: Caller,
): Promise<{ token: string; info: TokenInfo }> {
  if (!atLeast(owner.role, input.role)) {
    throw new Failure(
      'forbidden',
      `A token cannot have a higher role than its owner, whose role is ${owner.role}.`,
      {
        field: '/role',
      },
    )
  }
  const created = now()
  const expires = input.expires == null ? null : Date.parse(input.expires)
  if (expires !== null && !(expires > created)) {
    throw new Failure(
      'bad-parameter',
      'expires must be in the future, such as 2027-01-31T00:00:00Z.',
      {
        field: '/expires',
      },
    )
  }
  const databases = parseScopeInput(input.databases ?? null)
  requireWithin(owner, databases, expires)
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
    await beginChange(trx, actor)
    const { username } = await trx
      .selectFrom('people')
      .select('username')
      .where('id', '=', owner.personId)
      .executeTakeFirstOrThrow()
    const { count, bytes } = await trx
      .selectFrom('tokens')
      .select(({ fn }) => [
        fn.countAll().as('count'),
        fn.sum<number | string | null>(sql`octet_length(databases)`).as('bytes'),
      ])
      .where('owner_id', '=', owner.personId)
      .executeTakeFirstOrThrow()
    if (Number(count) >= TOKENS_PER_PERSON) {
      throw new Failure(
        'too-many-requests',
        `${username} has ${TOKENS_PER_PERSON.toLocaleString('en')} tokens, the maximum. Revoke one first.`,
      )
    }
    if (Number(bytes) + Buffer.byteLength(row.databases ?? '') > TOKEN_SCOPES_BYTES) {
      throw new Failure(
        'too-many-requests',
        `The tokens of ${username} name too many databases. Revoke one first, or list fewer databases.`,
        { field: '/databases' },
      )
    }
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

/**
 * Checks that the new token has no more databases than the caller, and no later expiry than the
 * caller's token. A person's token without a list is limited as the person is.
 *
 * @throws Failure `forbidden`
 */
function requireWithin(
  { by, databases: scope = null, expires: end = null }: TokenOwner,
  databases: Scope,
  expires: number | null,
): void {
  const isWithin = databases === null ? by === 'session' : includesScope(scope, databases)
  if (scope !== null && !isWithin) {
    throw new Failure(
      'forbidden',
      `${by === 'token' ? 'A token can create only tokens for its' : 'You can create only tokens for your'} own databases: ${scope.join(', ')}.`,
      { field: '/databases' },
    )
  }
  if (by === 'token' && end !== null && (expires === null || expires > end)) {
    throw new Failure(
      'forbidden',
      `A token can create only tokens that expire no later than itself, at ${toIsoTime(end)}.`,
      { field: '/expires' },
    )
  }
}

/**
 * Yields the tokens of one owner or of everybody, by owner, then by name. Holds only those of one
 * owner at a time.
 *
 * @param uses has the uses that are not stored yet.
 */
export async function* listTokens(
  store: Store,
  uses: Pick<LastUseRecorder, 'tokenUse'>,
  owner: string | 'everybody',
): AsyncGenerator<TokenInfo, void> {
  const owners = await store.db
    .selectFrom('people')
    .select(['id', 'username'])
    .where('id', 'in', (eb) => eb.selectFrom('tokens').select('owner_id'))
    .$if(owner !== 'everybody', (query) => query.where('id', '=', owner))
    .execute()
  for (const { id, username } of owners.sort((a, b) => compareCodePoints(a.username, b.username))) {
    const rows = await store.db
      .selectFrom('tokens')
      .selectAll()
      .where('owner_id', '=', id)
      .execute()
    rows.sort((a, b) => compareCodePoints(a.name, b.name))
    for (const row of rows) {
      const last_used_at = uses.tokenUse(row.id) ?? row.last_used_at
      yield toInfo({ ...row, username, last_used_at })
    }
  }
}

/**
 * Revokes a token and returns the id of its owner. Durable when it resolves.
 *
 * @throws Failure `not-found` if there is no such token, or it belongs to someone else and `owner`
 *   is not an admin with access to `_system`; the failures of {@link beginChange}.
 */
export function revokeToken(
  { store, record }: Pick<TokenDeps, 'store' | 'record'>,
  owner: TokenOwner,
  id: string,
  actor: Caller,
): Promise<string> {
  const isAdmin = owner.role === 'admin' && inScope(owner.databases ?? null, SYSTEM_DATABASE)
  return store.change(async (trx) => {
    await beginChange(trx, actor)
    const row = await trx
      .deleteFrom('tokens')
      .where('id', '=', id)
      .$if(!isAdmin, (query) => query.where('owner_id', '=', owner.personId))
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

function toInfo(row: TokensTable & { username: string }): TokenInfo {
  return {
    id: row.id,
    name: row.name,
    prefix: row.prefix,
    owner: row.username,
    ownerId: row.owner_id,
    role: parseColumn(role, 'tokens.role', row.role),
    databases: parseScope('tokens.databases', row.databases),
    created: toIsoTime(row.created_at),
    expires: toIsoTime(row.expires_at),
    lastUsed: toIsoTime(row.last_used_at),
  }
}
