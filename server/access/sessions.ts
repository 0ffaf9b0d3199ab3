import { randomUUID } from 'node:crypto'
import { SESSION_IDLE, type SessionInfo } from '../contract/access/session.ts'
import type { Actor } from '../contract/audit.ts'
import { toIsoTime } from '../contract/iso-time.ts'
import { Failure } from '../failure.ts'
import { createSecret, hashSecret } from '../secret.ts'
import { beginChange, type Caller } from '../storage/changes/begin-change.ts'
import type { Recorder } from '../storage/changes/recorder.ts'
import type { Store } from '../storage/store.ts'
import type { Vault } from '../storage/vault.ts'
import { acceptInvitation } from './invitations.ts'
import { findOrCreatePerson, type ProviderIdentity, requirePerson } from './people.ts'

/** Maximum lifetime of a session, ms: 7 days. */
export const MAX_SESSION_AGE = 7 * 24 * 60 * 60 * 1000

/** A sign-in that a provider has confirmed. */
export interface SignIn extends ProviderIdentity {
  /** Access token of the provider. */
  readonly accessToken: string
  /**
   * Fingerprint of the operator key that was entered; null for all providers except the local one.
   */
  readonly operatorKey: string | null
  /** The id of the invitation with which the person signs in. */
  readonly invitation?: string | null
}

export interface SessionDeps {
  readonly store: Store
  readonly vault: Vault
  readonly record: Recorder
  /** Usernames that always have the role admin. */
  readonly admins: readonly string[]
  /** Returns the time, ms since 1970. */
  readonly now: () => number
  /** Returns the fingerprint of the current operator key. Default: the key is never replaced. */
  readonly operatorKey?: (() => string) | undefined
}

/** Origin of a sign-in request. */
export interface SignInOrigin {
  readonly address: string | null
  readonly userAgent: string | null
}

/**
 * Signs a person in: finds or creates the person, and stores the provider's access token,
 * encrypted, with the person and with a new session (docs/sign-in.md, "The flow"). Returns the
 * person's id, the secret for the session cookie, and whether the role changed, which ends the
 * other sessions. Only the hash of the secret is stored. Durable when it resolves.
 *
 * @throws Failure `forbidden` if the person's access was removed; `bad-parameter` if the operator
 *   key was renewed during the sign-in; `gone` if the invitation cannot be accepted any more.
 */
export function beginSession(
  deps: SessionDeps,
  signIn: SignIn,
  from: SignInOrigin,
): Promise<{ person: string; secret: string; roleChanged: boolean }> {
  const { store, vault, record } = deps
  const now = deps.now()
  const secret = createSecret()
  const id = randomUUID()
  const username = `${signIn.provider}:${signIn.subject}`
  const actor: Actor = { name: username, by: 'session', address: from.address }
  return store.change(async (trx) => {
    // Check inside the transaction: a concurrent renewal has either completed, or ends this session
    // when this transaction has committed.
    if (wasReplaced(signIn.operatorKey, deps.operatorKey)) {
      throw new Failure('bad-parameter', 'The operator key has changed. Sign in with the new key.')
    }
    const { invitation } = signIn
    // First, as in other changes of people; it also lets only one person accept the invitation.
    if (invitation) await beginChange(trx, actor)
    const { person: found, entry } = await findOrCreatePerson(trx, signIn, {
      admins: deps.admins,
      actor,
      now,
      operatorKey: deps.operatorKey,
    })
    const { person, accepted } = invitation
      ? await acceptInvitation(trx, invitation, found, { actor, now })
      : { person: found, accepted: undefined }
    // After the changes of the person, in the order of other changes, which prevents deadlocks.
    await trx
      .deleteFrom('sessions')
      .where((eb) =>
        eb.or([eb('expires_at', '<', now), eb('last_seen_at', '<', now - SESSION_IDLE)]),
      )
      .execute()
    await trx
      .updateTable('people')
      .set({ access_token: vault.encrypt(signIn.accessToken, `people/${person.id}/access`) })
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
        expires_at: now + MAX_SESSION_AGE,
        address: from.address,
        user_agent: from.userAgent?.slice(0, 256) ?? null,
        operator_key: signIn.operatorKey,
        access_token: vault.encrypt(signIn.accessToken, `sessions/${id}/access`),
      })
      .execute()
    const first = [entry, accepted].filter((each) => each !== undefined)
    await record(trx, ...first, {
      actor,
      action: 'session.begin',
      target: username,
      outcome: 'done',
      before: null,
      after: { session: id, role: person.role },
    })
    const roleChanged = accepted !== undefined || entry?.action === 'person.role'
    return { person: person.id, secret, roleChanged }
  })
}

/**
 * Returns whether the operator key was replaced since a person entered it. `key` is the fingerprint
 * of that key; null for other providers.
 */
export const wasReplaced = (key: string | null, current: SessionDeps['operatorKey']): boolean =>
  key !== null && current !== undefined && key !== current()

/**
 * Returns the valid sessions of a person, newest first.
 *
 * @throws Failure `not-found`
 */
export async function listSessions(
  store: Store,
  person: string,
  now: number,
  current: string,
): Promise<SessionInfo[]> {
  await requirePerson(store.db, person)
  const rows = await store.db
    .selectFrom('sessions')
    .selectAll()
    .where('person_id', '=', person)
    .where('expires_at', '>', now)
    .where('last_seen_at', '>', now - SESSION_IDLE)
    .orderBy('created_at', 'desc')
    .execute()
  return rows.map((row) => ({
    id: row.id,
    created: toIsoTime(row.created_at),
    lastSeen: toIsoTime(row.last_seen_at),
    expires: toIsoTime(row.expires_at),
    address: row.address,
    userAgent: row.user_agent,
    current: row.id === current,
  }))
}

/**
 * Ends one session of a person, or all of them. Durable when it resolves.
 *
 * @throws Failure `not-found` if the person does not exist or has no session with the given id; the
 *   failures of {@link beginChange}.
 */
export function endSessions(
  deps: Pick<SessionDeps, 'store' | 'record'>,
  person: string,
  session: string | 'all',
  actor: Caller,
): Promise<void> {
  return deps.store.change(async (trx) => {
    await beginChange(trx, actor)
    const { username } = await requirePerson(trx, person)
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
    await deps.record(trx, {
      actor,
      action: 'session.end',
      target: username,
      outcome: 'done',
      before: { sessions: ended.map(({ id }) => id) },
      after: null,
    })
  })
}

/**
 * Ends all sessions that were created with another operator key, and all sign-ins in progress at
 * the local provider. Call it after the key was replaced.
 *
 * @param keep fingerprint of the current key.
 */
export function endOperatorSessions(
  store: Store,
  record: Recorder,
  keep: string,
  actor: Actor,
): Promise<void> {
  return store.change(async (trx) => {
    await beginChange(trx, actor)
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

/** Calls {@link endOperatorSessions} if there are sessions that were created with another key. */
export async function endReplacedSessions(
  store: Store,
  record: Recorder,
  keep: string,
  actor: Actor,
): Promise<void> {
  const replaced = store.db.selectFrom('sessions').select('id').where('operator_key', '<>', keep)
  if ((await replaced.limit(1).executeTakeFirst()) === undefined) return
  await endOperatorSessions(store, record, keep, actor)
}
