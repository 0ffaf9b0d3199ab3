import { randomUUID } from 'node:crypto'
import type { Kysely, Transaction } from 'kysely'
import * as z from 'zod/mini'
import {
  type AccessRole,
  atLeast,
  LOCAL_PROVIDER,
  OPERATOR,
  type Person,
  type PersonChange,
  type Role,
  role as roleSchema,
  roleSource as sourceSchema,
} from '../contract/access/principal.ts'
import { includesScope, inScope, type Scope } from '../contract/access/scope.ts'
import { SESSION_IDLE } from '../contract/access/session.ts'
import type { Actor, AuditEntry } from '../contract/audit.ts'
import { SYSTEM_DATABASE } from '../contract/database.ts'
import { toIsoTime } from '../contract/iso-time.ts'
import { compareCodePoints } from '../contract/query/compare-code-points.ts'
import { Failure } from '../failure.ts'
import { beginChange, type Caller, requireUnlimited } from '../storage/changes/begin-change.ts'
import type { Recorder } from '../storage/changes/recorder.ts'
import type { Change } from '../storage/changes/transactions.ts'
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
  /**
   * The role of the person's groups, `pending` if no group has a role; undefined if the groups of
   * this provider assign no roles.
   */
  readonly groupRole?: AccessRole
}

/** The provider whose groups can assign roles (`GATEHOUSE_OIDC_ROLES`). */
const GROUPS_PROVIDER = 'oidc'

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
 * and subject identify a person; the email address does not. New people get the role `pending`, or
 * that of their groups. The operator and people named in `admins` get `admin` without a limit at
 * every sign-in. A role that changes ends the person's sessions.
 *
 * @returns the person, and an audit entry that the caller must record at the end of the
 *   transaction.
 * @throws Failure `forbidden` if the person's access was removed.
 */
export async function findOrCreatePerson(
  trx: Change,
  identity: ProviderIdentity,
  options: {
    admins: readonly string[]
    actor: Actor
    now: number
    operatorKey?: (() => unknown) | undefined
  },
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
  const isAlways = isAlwaysAdmin(identity, username, options.admins)
  let access = accessAtSignIn(identity, existing, isAlways)
  if (access.role === 'none') throw new Failure('forbidden', ACCESS_REMOVED)
  if (existing !== undefined) {
    const isChanged = ({ role, databases } = access) =>
      role !== existing.role || databases !== existing.databases
    if (isChanged()) {
      // As in `changeRole`: other nodes follow the change, and the last admin remains one.
      await beginChange(trx, options.actor)
      if (await isLastAdmin(trx, existing, access, options.operatorKey))
        access = storedAccess(existing)
    }
    const set = { ...access, name, last_sign_in_at: options.now }
    const updated = await trx
      .updateTable('people')
      .set(set)
      .where('id', '=', existing.id)
      .where('role', '=', existing.role)
      .where('databases', existing.databases === null ? 'is' : '=', existing.databases)
      .where('role_source', existing.role_source === null ? 'is' : '=', existing.role_source)
      .executeTakeFirst()
    // An admin has changed the role since it was read.
    if (updated.numUpdatedRows === 0n) return findOrCreatePerson(trx, identity, options)
    const person = { ...existing, ...set }
    if (!isChanged()) return { person, entry: undefined }
    await trx.deleteFrom('sessions').where('person_id', '=', person.id).execute()
    return {
      person,
      entry: {
        actor: options.actor,
        action: 'person.role',
        target: username,
        outcome: 'done',
        ...recordedChange(existing, person),
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
    ...access,
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
      after: { ...recordedChange(person, person).after, issuer },
    },
  }
}

/** Returns the access of a person at a sign-in. The choice of an admin outranks groups. */
function accessAtSignIn(
  { groupRole }: ProviderIdentity,
  existing: PeopleTable | undefined,
  isAlways: boolean,
): StoredAccess {
  const access = existing ?? { role: 'pending', databases: null, role_source: null }
  const { databases, role_source } = access
  if (isAlways) {
    const isChosen = role_source === 'admin'
    return { role: 'admin', databases: null, role_source: isChosen ? role_source : null }
  }
  if (groupRole === undefined || role_source === 'admin') return storedAccess(access)
  return { role: groupRole, databases, role_source: 'groups' }
}

/** Whether a person is an admin by the operator key or by `GATEHOUSE_ADMINS`. */
const isAlwaysAdmin = (
  who: { provider: string; subject: string },
  username: string,
  admins: readonly string[],
) => isOperator(who) || admins.includes(username)

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
      role_source: null,
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

type StoredAccess = Pick<PeopleTable, 'role' | 'databases' | 'role_source'>

const storedAccess = ({ role, databases, role_source }: StoredAccess): StoredAccess => ({
  role,
  databases,
  role_source,
})

/** Returns the role of a person, with the databases that it is limited to and what set it. */
const accessOf = ({ role, databases, role_source }: StoredAccess) => ({
  role: parseColumn(roleSchema, 'people.role', role),
  databases: parseScope('people.databases', databases),
  roleSource: parseColumn(z.nullable(sourceSchema), 'people.role_source', role_source),
})

/**
 * Returns a change for the audit log, with `databases` only if there is or was a limit, and
 * `source` if the role comes from groups.
 */
function recordedChange(from: StoredAccess, to: StoredAccess) {
  const isLimited = from.databases !== null || to.databases !== null
  const recorded = (access: StoredAccess) => {
    const { role, databases, roleSource } = accessOf(access)
    return {
      role,
      ...(isLimited ? { databases } : {}),
      ...(roleSource === 'groups' ? { source: roleSource } : {}),
    }
  }
  return { before: recorded(from), after: recorded(to) }
}

/** Whether an admin can administer: without `_system`, only documents can be changed. */
const isAdministrator = ({ role, databases }: { role: Role; databases: Scope }) =>
  role === 'admin' && inScope(databases, SYSTEM_DATABASE)

/**
 * Whether a change would leave no admin: without an operator key, whose holder is one, one must
 * remain. Call it after {@link beginChange}, so that two admins who are demoted are serialized.
 */
async function isLastAdmin(
  trx: Transaction<Tables>,
  person: PeopleTable,
  after: StoredAccess,
  operatorKey: (() => unknown) | undefined,
): Promise<boolean> {
  const isDemoted = isAdministrator(accessOf(person)) && !isAdministrator(accessOf(after))
  if (!isDemoted || isReadable(operatorKey)) return false
  const others = await trx
    .selectFrom('people')
    .select(['role', 'databases', 'role_source'])
    .where('role', '=', 'admin')
    .where('provider', '<>', LOCAL_PROVIDER)
    .where('id', '<>', person.id)
    .execute()
  return !others.some((other) => isAdministrator(accessOf(other)))
}

/**
 * Changes a person's role and its limit, and ends their sessions. The role `none` removes access: it
 * also revokes the person's tokens and deletes the tokens that the provider issued. Groups no longer
 * change the role, unless `roleSource` is `groups`. Durable when it resolves.
 *
 * @param options `operatorKey` throws if there is no operator key. Without one, an admin must remain.
 * @throws Failure `not-found`; `bad-database-name` and `bad-parameter` for `databases`;
 *   `bad-parameter` for `roleSource` if groups cannot set the role; `forbidden` if a limited caller would raise the role or extend its limit; `conflict` for the operator, for a
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
  const { role, roleSource = 'admin' } = change
  const input = change.databases === undefined ? undefined : parseScopeInput(change.databases)
  return store.change(async (trx) => {
    // The revision row also serves as a lock: two admins who demote each other are serialized.
    await beginChange(trx, options.actor)
    const person = await requirePerson(trx, id)
    const before = accessOf(person)
    const databases = input === undefined ? before.databases : input
    const isWider = !includesScope(before.databases, databases)
    const isSame = before.role === role && !isWider && includesScope(databases, before.databases)
    const isAlways = isAlwaysAdmin(person, person.username, options.admins)
    if (isSame && (before.roleSource === roleSource || isAlways)) return
    if (roleSource === 'groups' && (role === 'none' || person.provider !== GROUPS_PROVIDER)) {
      throw new Failure(
        'bad-parameter',
        `Groups set roles of people of the provider ${GROUPS_PROVIDER} only, and cannot remove access.`,
        { field: '/roleSource' },
      )
    }
    // Groups may raise the role at the next sign-in.
    const mayRaise = roleSource === 'groups' && before.roleSource !== 'groups'
    if (isWider || mayRaise || !atLeast(before.role, role))
      requireUnlimited(options.actor, 'give people more access', '/role')
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
    const after = {
      role,
      databases: databases && JSON.stringify(databases),
      role_source: roleSource,
    }
    if (await isLastAdmin(trx, person, after, options.operatorKey)) {
      throw new Failure(
        'conflict',
        `${person.username} is the last admin. Make another person an admin first.`,
      )
    }
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
