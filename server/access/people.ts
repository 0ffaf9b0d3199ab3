import { randomUUID } from 'node:crypto'
import type { Kysely, Transaction } from 'kysely'
import {
  atLeast,
  LOCAL_PROVIDER,
  OPERATOR,
  type Person,
  type PersonChange,
  type Role,
  role as roleSchema,
} from '../contract/access/principal.ts'
import { includesScope, inScope, type Scope } from '../contract/access/scope.ts'
import { SESSION_IDLE } from '../contract/access/session.ts'
import type { Actor, AuditEntry } from '../contract/audit.ts'
import { SYSTEM_DATABASE } from '../contract/database.ts'
import { toIsoTime } from '../contract/iso-time.ts'
import { compareCodePoints } from '../contract/query/compare-code-points.ts'
import { Failure } from '../failure.ts'
import { beginChange, type Caller } from '../storage/changes/begin-change.ts'
import type { Recorder } from '../storage/changes/recorder.ts'
import { parseColumn, parseScope } from '../storage/sql/parse-column.ts'
import type { Store } from '../storage/store.ts'
import type { PeopleTable, Tables } from '../storage/tables.ts'
import { parseScopeInput } from './parse-scope.ts'

/**
 * A person as identified by a provider. Provider, issuer and subject together are the identity. The
 * email address and the id alone are not.
 */
export interface ProviderIdentity {
  /** Name of the provider, as in paths. */
  readonly provider: string
  /** The issuer, or the token endpoint of a provider without an issuer. */
  readonly issuer: string
  /** The person's id at the provider. */
  readonly subject: string
  /** The person's name at the provider. */
  readonly name: string | null
}

const isOperator = (who: { provider: string; subject: string }) =>
  who.provider === OPERATOR.provider && who.subject === OPERATOR.subject

/** Returns all people: those awaiting a role first, those without access last, then by username. */
export async function listPeople(store: Store, now: number): Promise<Person[]> {
  const rows = await store.db
    .selectFrom('people')
    .leftJoin('sessions', (join) =>
      join
        .onRef('sessions.person_id', '=', 'people.id')
        .on('sessions.expires_at', '>', now)
        .on('sessions.last_seen_at', '>', now - SESSION_IDLE),
    )
    .selectAll('people')
    .select((eb) => eb.fn.count<number>('sessions.hash').as('sessions'))
    .groupBy('people.id')
    .execute()
  return rows
    .map((row) => ({
      id: row.id,
      username: row.username,
      name: row.name,
      provider: row.provider,
      issuer: row.issuer,
      ...accessOf(row),
      created: toIsoTime(row.created_at),
      lastSignIn: toIsoTime(row.last_sign_in_at),
      sessions: Number(row.sessions),
    }))
    .sort(
      (a, b) =>
        sortRank(a) - sortRank(b) ||
        compareCodePoints(a.username, b.username) ||
        compareCodePoints(a.issuer, b.issuer),
    )
}

/** Returns the sort rank of a person's role. */
const sortRank = ({ role }: Person): number => (role === 'pending' ? 0 : role === 'none' ? 2 : 1)

/** @throws Failure `not-found` */
export async function requirePerson(db: Kysely<Tables>, id: string): Promise<PeopleTable> {
  const person = await db.selectFrom('people').selectAll().where('id', '=', id).executeTakeFirst()
  if (person === undefined) throw new Failure('not-found', 'There is no such person.')
  return person
}

/**
 * Finds or creates the person of an identity, inside the transaction of a sign-in. Provider, issuer
 * and subject identify a person; the email address does not. New people get the role `pending`. The
 * operator and people named in `admins` get `admin` without a limit at every sign-in.
 *
 * @returns the person, and an audit entry that the caller must record at the end of the
 *   transaction.
 * @throws Failure `forbidden` if the person's access was removed.
 */
export async function findOrCreatePerson(
  trx: Transaction<Tables>,
  identity: ProviderIdentity,
  options: { admins: readonly string[]; actor: Actor; now: number },
): Promise<{ person: PeopleTable; entry: AuditEntry | undefined }> {
  const { provider, issuer, subject, name } = identity
  const username = `${provider}:${subject}`
  const existing = await trx
    .selectFrom('people')
    .selectAll()
    .where('provider', '=', provider)
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .executeTakeFirst()
  const always = isOperator(identity) || options.admins.includes(username)
  const role = always ? 'admin' : (existing?.role ?? 'pending')
  if (role === 'none') throw new Failure('forbidden', ACCESS_REMOVED)
  if (existing !== undefined) {
    const databases = always ? null : existing.databases
    const after = { ...existing, name, role, databases, last_sign_in_at: options.now }
    const updated = await trx
      .updateTable('people')
      .set({ name, role, databases, last_sign_in_at: options.now })
      .where('id', '=', existing.id)
      .where('role', '=', existing.role)
      .where('databases', existing.databases === null ? 'is' : '=', existing.databases)
      .executeTakeFirst()
    // An admin has changed the role since it was read.
    if (updated.numUpdatedRows === 0n) return findOrCreatePerson(trx, identity, options)
    const changed = recordedChange(existing, after)
    return {
      person: after,
      entry:
        existing.role === role && existing.databases === databases
          ? undefined
          : {
              actor: options.actor,
              action: 'person.role',
              target: username,
              outcome: 'done',
              ...changed,
            },
    }
  }
  const person: PeopleTable = {
    id: randomUUID(),
    provider,
    issuer,
    subject,
    username,
    name,
    role,
    databases: null,
    created_at: options.now,
    last_sign_in_at: options.now,
    access_token: null,
  }
  const inserted = await trx
    .insertInto('people')
    .values(person)
    .onConflict((conflict) => conflict.columns(['provider', 'issuer', 'subject']).doNothing())
    .executeTakeFirst()
  // A concurrent first sign-in has created the person.
  if (inserted.numInsertedOrUpdatedRows === 0n) return findOrCreatePerson(trx, identity, options)
  return {
    person,
    entry: {
      actor: options.actor,
      action: 'person.create',
      target: username,
      outcome: 'done',
      before: null,
      after: { role, issuer },
    },
  }
}

/** Shown to a person who signs in after their access was removed. */
const ACCESS_REMOVED =
  'Your access to this server was removed. An admin of this server can give you a role again.'

/** Returns the id of the operator. Creates the operator if the key has not been used yet. */
export async function ensureOperator(store: Store, now: number): Promise<string> {
  await store.db
    .insertInto('people')
    .values({
      id: randomUUID(),
      ...OPERATOR,
      name: null,
      role: 'admin',
      databases: null,
      created_at: now,
      last_sign_in_at: null,
      access_token: null,
    })
    .onConflict((conflict) => conflict.columns(['provider', 'issuer', 'subject']).doNothing())
    .execute()
  const { id } = await store.db
    .selectFrom('people')
    .select('id')
    .where('provider', '=', OPERATOR.provider)
    .where('subject', '=', OPERATOR.subject)
    .executeTakeFirstOrThrow()
  return id
}

type StoredAccess = Pick<PeopleTable, 'role' | 'databases'>

/** Returns the role of a person, with the databases that it is limited to. */
const accessOf = ({ role, databases }: StoredAccess) => ({
  role: parseColumn(roleSchema, 'people.role', role),
  databases: parseScope('people.databases', databases),
})

/** Returns a change for the audit log, with `databases` only if there is or was a limit. */
function recordedChange(from: StoredAccess, to: StoredAccess) {
  const [before, after] = [accessOf(from), accessOf(to)]
  if (before.databases !== null || after.databases !== null) return { before, after }
  return { before: { role: before.role }, after: { role: after.role } }
}

/** Whether an admin can administer: without `_system`, only documents can be changed. */
const isAdministrator = ({ role, databases }: { role: Role; databases: Scope }) =>
  role === 'admin' && inScope(databases, SYSTEM_DATABASE)

/**
 * Changes a person's role and its limit, and ends their sessions. The role `none` removes access: it
 * also revokes the person's tokens and deletes the tokens that the provider issued. Durable when it
 * resolves.
 *
 * @param options `operatorKey` throws if there is no operator key. Without one, an admin must remain.
 * @throws Failure `not-found`; `bad-database-name` and `bad-parameter` for `databases`; `forbidden`
 *   if a limited caller would raise the role or extend its limit; `conflict` for the operator, for a
 *   person named in `admins`, and if no admin with access to `_system` would remain; the failures
 *   of {@link beginChange}.
 */
export function changeRole(
  store: Store,
  record: Recorder,
  id: string,
  change: PersonChange,
  options: {
    admins: readonly string[]
    actor: Caller
    operatorKey?: (() => unknown) | undefined
  },
): Promise<void> {
  const { role } = change
  const input = change.databases === undefined ? undefined : parseScopeInput(change.databases)
  return store.change(async (trx) => {
    // The revision row also serves as a lock: two admins who demote each other are serialized.
    await beginChange(trx, options.actor)
    const person = await requirePerson(trx, id)
    const before = accessOf(person)
    const databases = input === undefined ? before.databases : input
    const isWider = !includesScope(before.databases, databases)
    if (before.role === role && !isWider && includesScope(databases, before.databases)) return
    if (isWider || !atLeast(before.role, role)) requireUnlimited(options.actor)
    if (isOperator(person)) {
      throw new Failure('conflict', 'The holder of the operator key is always an admin.', {
        field: '/role',
      })
    }
    if (options.admins.includes(person.username)) {
      throw new Failure('conflict', `GATEHOUSE_ADMINS makes ${person.username} an admin.`, {
        field: '/role',
      })
    }
    if (
      isAdministrator(before) &&
      !isAdministrator({ role, databases }) &&
      !isReadable(options.operatorKey)
    ) {
      const others = await trx
        .selectFrom('people')
        .select(['role', 'databases'])
        .where('role', '=', 'admin')
        .where('provider', '<>', LOCAL_PROVIDER)
        .where('id', '<>', id)
        .execute()
      if (!others.some((other) => isAdministrator(accessOf(other)))) {
        throw new Failure(
          'conflict',
          `${person.username} is the last admin. Make another person an admin first.`,
        )
      }
    }
    const after = { role, databases: databases && JSON.stringify(databases) }
    await trx.updateTable('people').set(after).where('id', '=', id).execute()
    await trx.deleteFrom('sessions').where('person_id', '=', id).execute()
    // Also when access is restored: a token may have been created while access was being removed.
    const ends = role === 'none' || person.role === 'none'
    const revoked = ends ? await revokeTokensOf(trx, id) : undefined
    const recorded = recordedChange(person, after)
    await record(trx, {
      actor: options.actor,
      action: 'person.role',
      target: person.username,
      outcome: 'done',
      before: recorded.before,
      after: {
        ...recorded.after,
        ...(revoked === undefined ? {} : { revokedTokens: revoked }),
      },
    })
  })
}

/**
 * Checks that the caller is not limited to databases, and is no token that expires: otherwise the
 * caller could give access that exceeds its own.
 *
 * @throws Failure `forbidden`
 */
function requireUnlimited({ authorization }: Caller): void {
  if (authorization === undefined) return
  const { by, databases, expires } = authorization
  if (databases === null && (by === 'session' || expires === null)) return
  throw new Failure(
    'forbidden',
    by === 'token'
      ? 'A token that is limited to databases or expires cannot give people more access. Sign in instead.'
      : 'Your role is limited to databases, so you cannot give people more access.',
    { field: '/role' },
  )
}

/** Returns whether there is an operator key, whose holder is always an admin. */
function isReadable(operatorKey: (() => unknown) | undefined): boolean {
  try {
    operatorKey?.()
    return operatorKey !== undefined
  } catch {
    return false
  }
}

/**
 * Deletes a person's API tokens and stored provider tokens. Returns the number of API tokens
 * deleted.
 */
async function revokeTokensOf(trx: Transaction<Tables>, id: string): Promise<number> {
  const { numDeletedRows } = await trx
    .deleteFrom('tokens')
    .where('owner_id', '=', id)
    .executeTakeFirst()
  await trx.updateTable('people').set({ access_token: null }).where('id', '=', id).execute()
  return Number(numDeletedRows)
}
