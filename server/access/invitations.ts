import { randomUUID } from 'node:crypto'
import { type AccessRole, role as roleSchema } from '../contract/access/principal.ts'
import {
  DEFAULT_INVITATION_LIFETIME,
  INVITATION_LIFETIME,
  INVITATIONS,
  type Invitation,
  type InvitationInput,
} from '../contract/access/provider.ts'
import type { Actor, AuditEntry } from '../contract/audit.ts'
import { toIsoTime } from '../contract/iso-time.ts'
import { Failure } from '../failure.ts'
import { createSecret, hashSecret } from '../secret.ts'
import { beginChange, type Caller, requireUnlimited } from '../storage/changes/begin-change.ts'
import type { Recorder } from '../storage/changes/recorder.ts'
import type { Change } from '../storage/changes/transactions.ts'
import { parseColumn, parseScope } from '../storage/sql/parse-column.ts'
import type { Store } from '../storage/store.ts'
import type { PeopleTable } from '../storage/tables.ts'
import { parseScopeInput } from './parse-scope.ts'

/** How long invitations that have ended are kept, so that their page can say why, ms. */
const KEPT = INVITATION_LIFETIME

/** An invitation as its page shows it. */
export interface FoundInvitation extends Invitation {
  readonly state: 'open' | 'used' | 'expired'
}

export interface InvitationsDeps {
  readonly store: Store
  readonly record: Recorder
  /** Returns the time, ms since 1970. */
  readonly now: () => number
}

export type Invitations = ReturnType<typeof createInvitations>

/** Creates the changes and queries of invitations. */
export function createInvitations({ store, record, now }: InvitationsDeps) {
  return {
    /**
     * Creates an invitation. Returns the token of its URL, of which only the hash is stored.
     *
     * @throws Failure `bad-parameter`; `forbidden` if the caller is limited; `conflict` beyond
     *   {@link INVITATIONS}.
     */
    create(
      input: InvitationInput,
      creator: string,
      actor: Caller,
    ): Promise<{ token: string; invitation: Invitation }> {
      const databases = parseScopeInput(input.databases ?? null)
      const [created_at, expires_at] = [now(), expiryOf(input.expires, now())]
      const token = `gi_${createSecret()}`
      const id = randomUUID()
      return store.change(async (trx) => {
        await beginChange(trx, actor)
        requireUnlimited(actor, 'invite people')
        await trx
          .deleteFrom('invitations')
          .where('expires_at', '<', now() - KEPT)
          .execute()
        const { count } = await trx
          .selectFrom('invitations')
          .select(({ fn }) => fn.countAll().as('count'))
          .where('used_at', 'is', null)
          .where('expires_at', '>', now())
          .executeTakeFirstOrThrow()
        if (Number(count) >= INVITATIONS) {
          throw new Failure(
            'conflict',
            `There are ${INVITATIONS} open invitations, the maximum. Delete one first.`,
          )
        }
        const { provider, role, note = null } = input
        await trx
          .insertInto('invitations')
          .values({
            ...{ id, hash: hashSecret(token), provider, role },
            databases: databases && JSON.stringify(databases),
            ...{ creator_id: creator, created_at, expires_at, used_at: null, note },
          })
          .execute()
        await record(trx, {
          ...{ actor, action: 'invitation.create', target: id, outcome: 'done' },
          before: null,
          after: { provider, role, databases, expires: toIsoTime(expires_at), note },
        })
        const times = { created: toIsoTime(created_at), expires: toIsoTime(expires_at) }
        const invitation = {
          id,
          provider,
          role,
          databases: databases && [...databases],
          creator: actor.name,
          ...times,
          note,
        }
        return { token, invitation }
      })
    },

    /** Returns the invitations that can be accepted, newest first. */
    async list(): Promise<Invitation[]> {
      const rows = await selectFrom(store.db)
        .where('used_at', 'is', null)
        .where('expires_at', '>', now())
        .orderBy('invitations.created_at', 'desc')
        .execute()
      return rows.map(toView)
    },

    /** Deletes an invitation that was not accepted. @throws Failure `not-found` */
    remove: (id: string, actor: Caller): Promise<void> =>
      store.change(async (trx) => {
        await beginChange(trx, actor)
        const row = await trx
          .deleteFrom('invitations')
          .where('id', '=', id)
          .where('used_at', 'is', null)
          .returningAll()
          .executeTakeFirst()
        if (row === undefined) throw new Failure('not-found', 'There is no such invitation.')
        const { provider, role, databases, note } = row
        await record(trx, {
          ...{ actor, action: 'invitation.delete', target: id, outcome: 'done' },
          before: {
            provider,
            role,
            databases: parseScope('invitations.databases', databases),
            note,
          },
          after: null,
        })
      }),

    /** Returns why an invitation cannot be accepted. */
    ended: invitationEnded,

    /** Returns the invitation of a token; undefined if it was deleted or never existed. */
    async find(token: string): Promise<FoundInvitation | undefined> {
      const row = await selectFrom(store.db)
        .where('hash', '=', hashSecret(token))
        .executeTakeFirst()
      if (row === undefined) return undefined
      const state = row.used_at !== null ? 'used' : row.expires_at <= now() ? 'expired' : 'open'
      return { ...toView(row), state }
    },
  }
}

/**
 * Selects invitations. Those of people who are no longer admins without a limit do not count:
 * otherwise a former admin could come back with one.
 */
const selectFrom = (db: Pick<Store['db'], 'selectFrom'>) =>
  db
    .selectFrom('invitations')
    .innerJoin('people', 'people.id', 'creator_id')
    .selectAll('invitations')
    .select('people.username as creator')
    .where('people.role', '=', 'admin')
    .where('people.databases', 'is', null)

type Row = Awaited<ReturnType<ReturnType<typeof selectFrom>['executeTakeFirstOrThrow']>>

const toView = ({ id, provider, role, databases, creator, note, ...row }: Row): Invitation => ({
  ...{ id, provider, creator, note },
  role: parseColumn(roleSchema, 'invitations.role', role),
  databases: parseScope('invitations.databases', databases),
  created: toIsoTime(row.created_at),
  expires: toIsoTime(row.expires_at),
})

/** @throws Failure `bad-parameter` */
function expiryOf(expires: string | undefined, now: number): number {
  const at = expires === undefined ? now + DEFAULT_INVITATION_LIFETIME : Date.parse(expires)
  if (at > now && at <= now + INVITATION_LIFETIME) return at
  throw new Failure(
    'bad-parameter',
    'expires must be in the future, and at most 30 days from now.',
    {
      field: '/expires',
    },
  )
}

/** Why an invitation cannot be accepted. */
export const invitationEnded = (state: FoundInvitation['state'] | undefined) =>
  new Failure(
    'gone',
    state === 'used'
      ? 'This invitation was already used. Ask the person who sent it for a new one.'
      : state === 'expired'
        ? 'This invitation has expired. Ask the person who sent it for a new one.'
        : 'This invitation is no longer valid. Ask the person who sent it for a new one.',
  )

/**
 * Gives a person without a role the access of an invitation, in the transaction of the sign-in. A
 * person who has a role keeps it, and the invitation stays open.
 *
 * @returns the person, and if the invitation was accepted, its audit entry.
 * @throws Failure `gone` if it cannot be accepted any more.
 */
export async function acceptInvitation(
  trx: Change,
  id: string,
  person: PeopleTable,
  { actor, now }: { actor: Actor; now: number },
): Promise<{ person: PeopleTable; accepted: AuditEntry | undefined }> {
  if (person.role !== 'pending') return { person, accepted: undefined }
  const found = await selectFrom(trx)
    .where('invitations.id', '=', id)
    .where('invitations.provider', '=', person.provider)
    .executeTakeFirst()
  if (found === undefined) throw invitationEnded(undefined)
  if (found.used_at !== null) throw invitationEnded('used')
  if (found.expires_at <= now) throw invitationEnded('expired')
  const { role, databases } = toView(found)
  const access = {
    role: role as AccessRole,
    databases: databases && JSON.stringify(databases),
    role_source: 'admin',
  }
  await trx.updateTable('invitations').set({ used_at: now }).where('id', '=', id).execute()
  await trx.updateTable('people').set(access).where('id', '=', person.id).execute()
  await trx.deleteFrom('sessions').where('person_id', '=', person.id).execute()
  return {
    person: { ...person, ...access },
    accepted: {
      ...{ actor, action: 'invitation.accept', target: person.username, outcome: 'done' },
      before: { role: person.role },
      after: { role, databases, invitation: id, creator: found.creator },
    },
  }
}
