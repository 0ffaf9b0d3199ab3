import { randomBytes } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Selectable } from 'kysely'
import * as z from 'zod/mini'
import { atLeast, lowerRole, role } from '../contract/access/principal.ts'
import { includesScope, inScope, intersectScopes } from '../contract/access/scope.ts'
import { databaseNames, SYSTEM_DATABASE } from '../contract/database.ts'
import { type Policy, policy as policySchema } from '../contract/endpoints/policy.ts'
import { toIsoTime } from '../contract/iso-time.ts'
import { Failure } from '../failure.ts'
import { beginChange, type Caller } from '../storage/changes/begin-change.ts'
import type { Recorder } from '../storage/changes/recorder.ts'
import { type ExpectedRevision, requireRevision } from '../storage/changes/require-revision.ts'
import type { Change } from '../storage/changes/transactions.ts'
import { parseColumn, parseJsonColumn, parseScope } from '../storage/sql/parse-column.ts'
import type { Store } from '../storage/store.ts'
import type { PoliciesTable } from '../storage/tables.ts'
import { compilePolicy } from './decide.ts'

/** A policy that is replaced by the previous one unless it is confirmed in time. */
const trial = z.object({
  id: z.string(),
  /** When the previous policy returns, ms since 1970. */
  until: z.number(),
  /** The session or token that may confirm it. */
  credential: z.string(),
  previous: z.nullable(policySchema),
})

export type Trial = z.infer<typeof trial>

/** The policy of an address as it is stored. */
export interface StoredPolicy {
  /** Null if the endpoint has none any more. */
  readonly policy: Policy | null
  readonly revision: number
  readonly trial: Trial | null
}

/** The columns of a row of `policies` in a left join. */
type Columns = {
  readonly [Name in keyof Omit<Selectable<PoliciesTable>, 'address'>]:
    | Selectable<PoliciesTable>[Name]
    | null
}

/** The columns that {@link parseStoredPolicy} reads. */
export const POLICY_COLUMNS = ['policy', 'policy_revision', 'trial'] as const

/** Returns the policy of a row; undefined if the row has none. */
export function parseStoredPolicy(row: Columns): StoredPolicy | undefined {
  if (row.policy_revision === null) return undefined
  return {
    policy:
      row.policy === null ? null : parseJsonColumn(policySchema, 'policies.policy', row.policy),
    revision: row.policy_revision,
    trial: row.trial === null ? null : parseJsonColumn(trial, 'policies.trial', row.trial),
  }
}

/** Returns the stored policy of a canonical address. */
export async function readPolicy(
  db: Store['db'] | Change,
  address: string,
): Promise<StoredPolicy | undefined> {
  const row = await db
    .selectFrom('policies')
    .select(POLICY_COLUMNS)
    .where('address', '=', address)
    .executeTakeFirst()
  return row && parseStoredPolicy(row)
}

/** A change of the policy of one address. */
export interface PolicyWrite {
  readonly address: string
  /** Null removes it. */
  readonly policy: Policy | null
  readonly actor: Caller
  readonly expected?: ExpectedRevision
  /** Restores the previous policy at this time unless the trial is confirmed, ms since 1970. */
  readonly tryUntil?: number | undefined
  /** Checks in the transaction that certificates exist. Throws `conflict`. */
  readonly requireStored?:
    | ((trx: Change, certificates: readonly string[]) => Promise<void>)
    | undefined
  /** Rejects the change in its transaction by throwing a Failure. */
  readonly guard?: ((trx: Change) => Promise<void>) | undefined
}

/**
 * Stores or removes a policy, with a row in the audit log. A policy that equals the stored one
 * changes nothing.
 *
 * @returns the stored policy, once it is durable.
 * @throws Failure `precondition-failed`; that of the guard.
 */
export function writePolicy(
  store: Store,
  record: Recorder,
  { address, policy, actor, expected, tryUntil, guard, requireStored }: PolicyWrite,
): Promise<StoredPolicy | undefined> {
  return store.change(async (trx) => {
    const revision = await beginChange(trx, actor)
    const before = await readPolicy(trx, address)
    const found = before?.policy ? before.revision : undefined
    requireRevision('policy', `of ${address}`, found, expected)
    const current = before?.policy ?? null
    const isTried = tryUntil !== undefined
    if (isDeepStrictEqual(current, policy) && (before?.trial ?? null) === null) return before
    if (policy?.tls !== undefined) {
      await requireStored?.(trx, policy.tls.certificates)
      await requireOwnTokens(trx, policy, before, actor)
    }
    await guard?.(trx)
    const trial: Trial | null = isTried
      ? {
          id: randomBytes(16).toString('base64url'),
          until: tryUntil,
          credential: actor.authorization?.credential ?? '',
          // A trial that replaces another one returns to the policy before both.
          previous: before?.trial ? before.trial.previous : current,
        }
      : null
    const after = { policy, revision, trial }
    await storePolicy(trx, address, after)
    await record(trx, {
      actor,
      action: policy === null ? 'policy.remove' : 'policy.set',
      target: address,
      outcome: 'done',
      before: current && { policy: current },
      after: policy && {
        policy,
        ...(tryUntil !== undefined && { trialUntil: toIsoTime(tryUntil) }),
      },
      change: actor.change,
    })
    return after
  })
}

/**
 * Checks that a caller may use the tokens that client certificates will stand for: a caller could
 * otherwise issue a certificate for itself and get the access of an admin.
 *
 * @throws Failure `bad-parameter` for an unknown token; `forbidden`.
 */
async function requireOwnTokens(
  trx: Change,
  { tls }: Policy,
  before: StoredPolicy | undefined,
  { authorization: caller }: Caller,
): Promise<void> {
  const { tokens = [] } = tls?.clientAuth ?? {}
  const isUnchanged = isDeepStrictEqual(tls?.clientAuth, before?.policy?.tls?.clientAuth)
  if (tokens.length === 0 || isUnchanged || caller === undefined) return
  const ids = [...new Set(tokens.map(({ token }) => token))]
  const rows = await trx
    .selectFrom('tokens')
    .innerJoin('people', 'people.id', 'tokens.owner_id')
    .select(['tokens.id', 'tokens.owner_id', 'tokens.role', 'people.role as owner_role'])
    .select(['tokens.databases', 'people.databases as owner_databases', 'tokens.expires_at'])
    .where('tokens.id', 'in', ids)
    .execute()
  const found = new Map(rows.map((row) => [row.id, row]))
  const owner = await ownerOf(trx, caller)
  for (const [at, { token }] of tokens.entries()) {
    const row = found.get(token)
    const field = `/tls/clientAuth/tokens/${at}/token`
    const isListed = row !== undefined && (row.owner_id === owner || isFullAdmin(caller))
    if (!isListed) throw new Failure('bad-parameter', 'There is no such token.', { field })
    const parsed = (text: string) => parseColumn(role, 'role', text)
    const databases = intersectScopes(
      parseScope('tokens.databases', row.databases),
      parseScope('people.databases', row.owner_databases),
    )
    const { databases: scope = null, expires = null } = caller
    if (
      atLeast(caller.role, lowerRole(parsed(row.role), parsed(row.owner_role))) &&
      includesScope(scope, databases) &&
      (caller.by === 'session' ||
        expires === null ||
        (row.expires_at !== null && row.expires_at <= expires))
    )
      continue
    throw new Failure('forbidden', 'The token gives more access than you have.', { field })
  }
}

const isFullAdmin = ({ role, databases = null }: NonNullable<Caller['authorization']>) =>
  role === 'admin' && inScope(databases, SYSTEM_DATABASE)

/** Returns the id of the person with a session or token. */
async function ownerOf(
  trx: Change,
  { by, credential }: NonNullable<Caller['authorization']>,
): Promise<string | undefined> {
  const row =
    by === 'session'
      ? await trx
          .selectFrom('sessions')
          .select('person_id as owner')
          .where('id', '=', credential)
          .executeTakeFirst()
      : await trx
          .selectFrom('tokens')
          .select('owner_id as owner')
          .where('id', '=', credential)
          .executeTakeFirst()
  return row?.owner
}

async function storePolicy(trx: Change, address: string, after: StoredPolicy): Promise<void> {
  const values = {
    policy: after.policy && JSON.stringify(after.policy),
    policy_revision: after.revision,
    trial: after.trial && JSON.stringify(after.trial),
  }
  await trx
    .insertInto('policies')
    .values({ address, ...values })
    .onConflict((conflict) => conflict.column('address').doUpdateSet(values))
    .execute()
  if (after.policy !== null) return
  const isEndpoint = trx.selectFrom('endpoints').select('address').where('address', '=', address)
  await trx
    .deleteFrom('policies')
    .where('address', '=', address)
    .where((eb) => eb.not(eb.exists(isEndpoint)))
    .execute()
}

/**
 * Keeps a policy that is being tried.
 *
 * @param id that of the trial.
 * @returns the address; undefined if the trial has ended or the caller did not begin it.
 */
export function confirmTrial(
  store: Store,
  record: Recorder,
  id: string,
  actor: Caller,
): Promise<string | undefined> {
  return store.change(async (trx) => {
    const revision = await beginChange(trx, actor)
    const rows = await trx
      .selectFrom('policies')
      .selectAll()
      .where('trial', 'is not', null)
      .execute()
    for (const row of rows) {
      const stored = parseStoredPolicy(row)
      if (stored?.trial?.id !== id) continue
      if (stored.trial.credential !== actor.authorization?.credential) return undefined
      await storePolicy(trx, row.address, { ...stored, revision, trial: null })
      await record(trx, {
        actor,
        action: 'policy.confirm',
        target: row.address,
        outcome: 'done',
        before: null,
        after: stored.policy && { policy: stored.policy },
      })
      return row.address
    }
    return undefined
  })
}

/** The author of changes that a policy itself demands. */
const POLICY: Caller = { name: 'policy', by: 'system', address: null }

/**
 * Makes the changes that stored policies demand at a time: restores the previous policy after a
 * trial, and removes endpoints whose time has come.
 *
 * @param now ms since 1970, by the clock of the database.
 * @param addresses those to look at; undefined for all.
 * @returns the addresses whose endpoint was removed or whose policy was restored.
 */
export async function expirePolicies(
  store: Store,
  record: Recorder,
  now: number,
  addresses?: readonly string[],
): Promise<string[]> {
  // A change raises the revision of the store, which other nodes would follow.
  if ((await readDue(store.db, now, addresses)).length === 0) return []
  return store.change(async (trx) => {
    // Takes the lock before it reads: other nodes make the same changes at the same time.
    const revision = await beginChange(trx, POLICY)
    const due = await readDue(trx, now, addresses)
    for (const { address, stored } of due) {
      const { policy, trial } = stored
      if (trial !== null && trial.until <= now) {
        const after = { policy: trial.previous, revision, trial: null }
        await storePolicy(trx, address, after)
        await record(trx, {
          actor: POLICY,
          action: trial.previous === null ? 'policy.remove' : 'policy.set',
          target: address,
          outcome: 'done',
          before: policy && { policy },
          after: trial.previous && { policy: trial.previous },
        })
      } else await removeEndpoint(trx, record, address, policy)
    }
    return due.map(({ address }) => address)
  })
}

/** Returns the policies that demand a change. */
async function readDue(db: Store['db'] | Change, now: number, addresses?: readonly string[]) {
  let query = db.selectFrom('policies').selectAll().where('policy', 'is not', null)
  if (addresses !== undefined) query = query.where('address', 'in', addresses)
  return (await query.execute()).flatMap((row) => {
    const stored = parseStoredPolicy(row)
    return stored !== undefined && isDue(stored, now) ? { address: row.address, stored } : []
  })
}

async function removeEndpoint(
  trx: Change,
  record: Recorder,
  address: string,
  policy: Policy | null,
): Promise<void> {
  const removed = await trx
    .deleteFrom('endpoints')
    .where('address', '=', address)
    .where('proposal', 'is', null)
    .returning('databases')
    .executeTakeFirst()
  await trx.deleteFrom('policies').where('address', '=', address).execute()
  if (removed === undefined) return
  await record(trx, {
    actor: POLICY,
    action: 'endpoint.remove',
    target: address,
    outcome: 'done',
    before: {
      databases: parseJsonColumn(databaseNames, 'endpoints.databases', removed.databases),
      policy,
    },
    after: null,
  })
}

/** Returns when the next change of {@link expirePolicies} is due, ms since 1970, if any. */
function deadlineOf({ policy, trial }: StoredPolicy): number | undefined {
  // An endpoint is not removed by a policy that may still be withdrawn.
  if (trial !== null) return trial.until
  return policy?.closesAt === undefined ? undefined : Date.parse(policy.closesAt)
}

/**
 * Returns whether an endpoint with this policy counts as a way to administer the server. During a
 * trial, both policies must count, because either may stay.
 *
 * @param client an address that the endpoint must admit; null for any.
 */
export function offersAdministration(
  stored: Pick<StoredPolicy, 'policy' | 'trial'> | undefined,
  client: string | null = null,
): boolean {
  const offers = (policy: Policy | null) =>
    policy === null ||
    (policy.enabled !== false &&
      policy.administration !== false &&
      policy.closesAt === undefined &&
      compilePolicy(policy).admits(client))
  if (stored === undefined) return true
  return offers(stored.policy) && (stored.trial === null || offers(stored.trial.previous))
}

/** Returns whether {@link expirePolicies} has to change an endpoint. */
export const isDue = (stored: StoredPolicy, now: number) =>
  (deadlineOf(stored) ?? Number.POSITIVE_INFINITY) <= now
