import { randomUUID } from 'node:crypto'
import type { Transaction } from 'kysely'
import type { Actor, AuditEntry } from '../contract/audit.ts'
import type { Person } from '../contract/person.ts'
import type { Role } from '../contract/role.ts'
import { SESSION_IDLE } from '../contract/session-use.ts'
import { Failure } from '../failure.ts'
import { nextRevision } from '../storage/next-revision.ts'
import type { Store } from '../storage/open.ts'
import type { Recorder } from '../storage/recorder.ts'
import type { PeopleTable, Tables } from '../storage/tables.ts'

/** The name of the provider that is built in. */
export const LOCAL_PROVIDER = 'local'

/** Whoever holds the operator key. */
export const OPERATOR = {
  provider: LOCAL_PROVIDER,
  issuer: 'gatehouse',
  subject: 'operator',
  username: `${LOCAL_PROVIDER}:operator`,
} as const

/** Who a provider says that somebody is. */
export interface ProviderIdentity {
  readonly provider: string
  readonly issuer: string
  readonly subject: string
  readonly name: string | null
}

const isOperator = (who: { provider: string; subject: string }) =>
  who.provider === OPERATOR.provider && who.subject === OPERATOR.subject

/** Everybody who has signed in once: those who wait for a role first, then by username. */
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
      role: row.role as Role,
      created: new Date(row.created_at).toISOString(),
      lastSignIn: row.last_sign_in_at === null ? null : new Date(row.last_sign_in_at).toISOString(),
      sessions: Number(row.sessions),
    }))
    .sort(
      (a, b) =>
        Number(b.role === 'pending') - Number(a.role === 'pending') ||
        (a.username < b.username ? -1 : 1),
    )
}

/**
 * Finds the person of an identity, or makes one, inside a sign-in's transaction. An identity is
 * provider, issuer and id together; never the e-mail. New people are `pending`, unless they are the
 * operator or `admins` names them; those it names are made admin again at each sign-in.
 *
 * @returns the person, and what is to be put on record of it at the end of the transaction.
 */
export async function recognise(
  trx: Transaction<Tables>,
  identity: ProviderIdentity,
  options: { admins: readonly string[]; actor: Actor; now: number },
): Promise<{ person: PeopleTable; entry: AuditEntry | undefined }> {
  const { provider, issuer, subject, name } = identity
  const username = `${provider}:${subject}`
  const known = await trx
    .selectFrom('people')
    .selectAll()
    .where('provider', '=', provider)
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .executeTakeFirst()
  const always = isOperator(identity) || options.admins.includes(username)
  const role = always ? 'admin' : (known?.role ?? 'pending')
  if (known !== undefined) {
    const after = { ...known, name, role, last_sign_in_at: options.now }
    await trx
      .updateTable('people')
      .set({ name, role, last_sign_in_at: options.now })
      .where('id', '=', known.id)
      .execute()
    const changed = { before: { role: known.role }, after: { role } }
    return {
      person: after,
      entry:
        known.role === role
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
  const made: PeopleTable = {
    id: randomUUID(),
    provider,
    issuer,
    subject,
    username,
    name,
    role,
    created_at: options.now,
    last_sign_in_at: options.now,
    access_token: null,
    refresh_token: null,
    token_expires_at: null,
  }
  const inserted = await trx
    .insertInto('people')
    .values(made)
    .onConflict((conflict) => conflict.columns(['provider', 'issuer', 'subject']).doNothing())
    .executeTakeFirst()
  // Somebody signed in twice at once for the first time; the other one is there by now.
  if (inserted.numInsertedOrUpdatedRows === 0n) return recognise(trx, identity, options)
  return {
    person: made,
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

/** The id of the operator, who is put among the people if nobody has used the key yet. */
export async function ensureOperator(store: Store, now: number): Promise<string> {
  await store.db
    .insertInto('people')
    .values({
      id: randomUUID(),
      ...OPERATOR,
      name: null,
      role: 'admin',
      created_at: now,
      last_sign_in_at: null,
      access_token: null,
      refresh_token: null,
      token_expires_at: null,
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

/**
 * Gives somebody another role and ends their sessions; durable when it resolves.
 *
 * @throws Failure `not-found`; `conflict` for the operator, for whom `admins` names, and where no
 * admin would be left.
 */
export function changeRole(
  store: Store,
  record: Recorder,
  id: string,
  role: Role,
  options: { admins: readonly string[]; actor: Actor },
): Promise<void> {
  return store.change(async (trx) => {
    // Also the lock that puts two admins who demote each other in an order.
    await nextRevision(trx)
    const person = await trx
      .selectFrom('people')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst()
    if (person === undefined) throw new Failure('not-found', 'There is no such person.')
    if (person.role === role) return
    if (isOperator(person)) {
      throw new Failure('conflict', 'Whoever holds the operator key is always an admin.')
    }
    if (options.admins.includes(person.username)) {
      throw new Failure('conflict', `${person.username} is an admin by GATEHOUSE_ADMINS.`)
    }
    if (person.role === 'admin') {
      const others = await trx
        .selectFrom('people')
        .select('id')
        .where('role', '=', 'admin')
        .where('provider', '<>', LOCAL_PROVIDER)
        .where('id', '<>', id)
        .executeTakeFirst()
      if (others === undefined) {
        throw new Failure(
          'conflict',
          `${person.username} is the last admin. Make somebody else one first.`,
        )
      }
    }
    await trx.updateTable('people').set({ role }).where('id', '=', id).execute()
    await trx.deleteFrom('sessions').where('person_id', '=', id).execute()
    await record(trx, {
      actor: options.actor,
      action: 'person.role',
      target: person.username,
      outcome: 'done',
      before: { role: person.role },
      after: { role },
    })
  })
}
