import { randomUUID } from 'node:crypto'
import type { Actor } from '../contract/audit.ts'
import type { SessionInfo } from '../contract/session.ts'
import { SESSION_IDLE } from '../contract/session-use.ts'
import { Failure } from '../failure.ts'
import type { Store } from '../storage/open.ts'
import type { Recorder } from '../storage/recorder.ts'
import type { PeopleTable, SessionsTable } from '../storage/tables.ts'
import type { Vault } from '../storage/vault.ts'
import { type ProviderIdentity, recognise } from './people.ts'
import { type ProviderTokens, sealTokens } from './provider-tokens.ts'
import { createSessionSecret, hashSecret } from './secret-text.ts'

/** A session that is not used ends after this, ms. */
export const IDLE = SESSION_IDLE

/** A session ends after this at the latest, ms: 7 d. */
export const ABSOLUTE = 7 * 24 * 60 * 60 * 1000

/** How often the use of a session or token is recorded, ms. */
export const TOUCH = 60_000

/** A sign-in that a provider has vouched for. */
export interface SignIn extends ProviderIdentity {
  readonly tokens: ProviderTokens
  /** The fingerprint of the operator key it was made with; null: of another provider. */
  readonly operatorKey: string | null
}

/** What sessions are made of. */
export interface SessionDeps {
  readonly store: Store
  readonly vault: Vault
  readonly record: Recorder
  readonly admins: readonly string[]
  readonly now: () => number
  /** The fingerprint of the operator key as it is now; missing: it is never renewed. */
  readonly operatorKey?: () => string
}

/** Where a sign-in came from. */
export interface From {
  readonly address: string | null
  readonly userAgent: string | null
}

/**
 * Signs somebody in: the person is created or found and the provider's tokens are stored, encrypted,
 * with the person and with a new session (seed 001, "Processing rules" 6 and 7). Durable when it
 * resolves with the id of the person and the secret for the cookie; only its hash is stored.
 */
export function beginSession(
  deps: SessionDeps,
  signIn: SignIn,
  from: From,
): Promise<{ person: string; secret: string }> {
  const { store, vault, record } = deps
  const now = deps.now()
  const secret = createSessionSecret()
  const id = randomUUID()
  const username = `${signIn.provider}:${signIn.subject}`
  const actor: Actor = { name: username, by: 'session', address: from.address }
  return store.change(async (trx) => {
    await trx
      .deleteFrom('sessions')
      .where((eb) => eb.or([eb('expires_at', '<', now), eb('last_seen_at', '<', now - IDLE)]))
      .execute()
    // Only now: a renewal has been waited for, or waits to end this session with the others.
    if (wasRenewed(signIn, deps)) {
      throw new Failure('bad-parameter', 'The operator key was renewed. Sign in with the new one.')
    }
    const { person, entry } = await recognise(trx, signIn, { admins: deps.admins, actor, now })
    await trx
      .updateTable('people')
      .set(sealTokens(vault, `people/${person.id}`, signIn.tokens))
      .where('id', '=', person.id)
      .execute()
    await trx
      .insertInto('sessions')
      .values({
        hash: hashSecret(secret),
        id,
        person_id: person.id,
        created_at: now,
        last_seen_at: now,
        expires_at: now + ABSOLUTE,
        address: from.address,
        user_agent: from.userAgent?.slice(0, 256) ?? null,
        operator_key: signIn.operatorKey,
        ...sealTokens(vault, `sessions/${id}`, signIn.tokens),
      })
      .execute()
    if (entry !== undefined) await record(trx, entry)
    await record(trx, {
      actor,
      action: 'session.begin',
      target: username,
      outcome: 'done',
      before: null,
      after: { session: id, role: person.role },
    })
    return { person: person.id, secret }
  })
}

/** Whether the operator key that somebody has given is no longer the one. */
const wasRenewed = ({ operatorKey }: SignIn, deps: SessionDeps): boolean =>
  operatorKey !== null && operatorKey !== (deps.operatorKey?.() ?? operatorKey)

/** A session with its person, while it lasts. */
export type FoundSession = Pick<SessionsTable, 'hash' | 'id' | 'expires_at' | 'last_seen_at'> &
  Pick<PeopleTable, 'username' | 'name' | 'provider' | 'role'> & { readonly person_id: string }

/** Finds a session by the hash of its secret; whether it has expired is the caller's to judge. */
export function findSession(store: Store, hash: string): Promise<FoundSession | undefined> {
  return store.db
    .selectFrom('sessions')
    .innerJoin('people', 'people.id', 'sessions.person_id')
    .select([
      'sessions.hash',
      'sessions.id',
      'sessions.person_id',
      'sessions.expires_at',
      'sessions.last_seen_at',
      'people.username',
      'people.name',
      'people.provider',
      'people.role',
    ])
    .where('sessions.hash', '=', hash)
    .executeTakeFirst()
}

/** The sessions of a person that last, newest first. */
export async function listSessions(
  store: Store,
  person: string,
  now: number,
  current: string,
): Promise<SessionInfo[]> {
  const rows = await store.db
    .selectFrom('sessions')
    .selectAll()
    .where('person_id', '=', person)
    .where('expires_at', '>', now)
    .where('last_seen_at', '>', now - IDLE)
    .orderBy('created_at', 'desc')
    .execute()
  return rows.map((row) => ({
    id: row.id,
    created: new Date(row.created_at).toISOString(),
    lastSeen: new Date(row.last_seen_at).toISOString(),
    expires: new Date(row.expires_at).toISOString(),
    address: row.address,
    userAgent: row.user_agent,
    current: row.id === current,
  }))
}

/**
 * Ends sessions of a person: one, or all of them. Durable when it resolves.
 *
 * @throws Failure `not-found` where one was named that is not the person's.
 */
export function endSessions(
  deps: Pick<SessionDeps, 'store' | 'record'>,
  person: string,
  session: string | 'all',
  actor: Actor,
): Promise<void> {
  return deps.store.change(async (trx) => {
    const ended = await trx
      .deleteFrom('sessions')
      .where('person_id', '=', person)
      .$if(session !== 'all', (query) => query.where('id', '=', session))
      .returning('id')
      .execute()
    if (ended.length === 0 && session !== 'all') {
      throw new Failure('not-found', 'There is no such session.')
    }
    if (ended.length === 0) return
    const who = await trx
      .selectFrom('people')
      .select('username')
      .where('id', '=', person)
      .executeTakeFirstOrThrow()
    await deps.record(trx, {
      actor,
      action: 'session.end',
      target: who.username,
      outcome: 'done',
      before: { sessions: ended.map(({ id }) => id) },
      after: null,
    })
  })
}

/**
 * Ends every session that was made with an operator key other than that of the fingerprint, and what
 * the local provider remembers: after a renewal of the key.
 */
export function endOperatorSessions(
  store: Store,
  record: Recorder,
  keep: string,
  actor: Actor,
): Promise<void> {
  return store.change(async (trx) => {
    await trx.deleteFrom('sessions').where('operator_key', '<>', keep).execute()
    await trx.deleteFrom('local_provider').execute()
    await record(trx, {
      actor,
      action: 'operator-key.renew',
      target: 'local:operator',
      outcome: 'done',
      before: null,
      after: null,
    })
  })
}
