import { sql } from 'kysely'
import {
  atLeast,
  lowerRole,
  type Principal,
  type Role,
  role,
} from '../../contract/access/principal.ts'
import { includesScope } from '../../contract/access/scope.ts'
import type { Actor } from '../../contract/audit.ts'
import { invariant } from '../../contract/invariant.ts'
import { Failure } from '../../failure.ts'
import { parseColumn, parseScope } from '../sql/parse-column.ts'
import { type Change, executeAll } from './transactions.ts'

/** The author of an administrative change. */
export interface Caller extends Actor {
  /** What authorized the request; missing if no request makes the change, such as a command. */
  readonly authorization?: Pick<Principal, 'by' | 'credential' | 'role'> &
    Partial<Pick<Principal, 'databases' | 'expires'>>
  /** The id of the bulk change of endpoints that the change belongs to. */
  readonly change?: string | undefined
}

/**
 * Raises the revision ({@link nextRevision}), and authorizes the caller again: the request may have
 * waited for its body since it was authorized. Revocations raise the revision too, so each of them
 * has either committed before, or waits for the end of this transaction.
 *
 * @returns the revision.
 * @throws Failure `unauthenticated` if the session or token has been revoked or the token has
 *   expired; `forbidden` if its role has been lowered, or its owner limited to other
 *   databases.
 */
export async function beginChange(trx: Change, caller: Caller): Promise<number> {
  if (caller.authorization === undefined) return nextRevision(trx)
  const [[counter], credentials] = await executeAll(
    trx,
    raiseRevision(trx).compile(),
    credentialsOf(trx, [caller]).compile(),
  )
  invariant(counter, 'the store has a revision counter')
  requireAuthorized(caller, credentials)
  return counter.value
}

/** A stored credential, its role and the role of its owner. */
interface StoredCredential {
  readonly id: string
  readonly role: string
  readonly owner_role: string
  readonly owner_databases: string | null
  /** When a token expires, Unix time, ms. The end of a session is extended by its use. */
  readonly expires_at: number | null
}

/**
 * Returns the query of the stored credentials of callers, for {@link requireAuthorized}. Run it
 * after the revision was raised.
 */
export function credentialsOf(trx: Change, callers: readonly Caller[]) {
  // No credential has an empty id.
  const ids = [...new Set(callers.map(({ authorization }) => authorization?.credential ?? ''))]
  return trx
    .selectFrom('sessions')
    .innerJoin('people', 'people.id', 'sessions.person_id')
    .select([
      'sessions.id',
      'people.role',
      'people.role as owner_role',
      'people.databases as owner_databases',
      sql<number | null>`null`.as('expires_at'),
    ])
    .where('sessions.id', 'in', ids)
    .unionAll(
      trx
        .selectFrom('tokens')
        .innerJoin('people', 'people.id', 'tokens.owner_id')
        .select(['tokens.id', 'tokens.role', 'people.role as owner_role'])
        .select(['people.databases as owner_databases', 'tokens.expires_at'])
        .where('tokens.id', 'in', ids),
    )
}

/**
 * Checks that a caller still has the role and the databases with which the request was authorized.
 *
 * @throws Failure `unauthenticated` or `forbidden`
 */
export function requireAuthorized(
  { authorization }: Caller,
  credentials: readonly StoredCredential[],
): void {
  if (authorization === undefined) return
  const stored = credentials.find(({ id }) => id === authorization.credential)
  if (stored === undefined) {
    throw new Failure(
      'unauthenticated',
      authorization.by === 'session'
        ? 'Your session has ended. Sign in again.'
        : 'The token has been revoked.',
    )
  }
  if (stored.expires_at !== null && stored.expires_at <= Date.now()) {
    throw new Failure('unauthenticated', 'The token has expired.')
  }
  const parsed = (text: string): Role => parseColumn(role, 'role', text)
  const databases = parseScope('people.databases', stored.owner_databases)
  if (
    !atLeast(lowerRole(parsed(stored.role), parsed(stored.owner_role)), authorization.role) ||
    !includesScope(databases, authorization.databases ?? null)
  ) {
    throw new Failure('forbidden', 'Your role has changed.')
  }
}

/**
 * Checks that a caller is not limited to databases, and is no token that expires: otherwise the
 * caller could give access that exceeds its own.
 *
 * @param what such as "change providers".
 * @throws Failure `forbidden`
 */
export function requireUnlimited({ authorization }: Caller, what: string, field?: string): void {
  if (authorization === undefined) return
  const { by, databases, expires } = authorization
  if (databases === null && (by === 'session' || expires === null)) return
  throw new Failure(
    'forbidden',
    by === 'token'
      ? `A token that is limited to databases or expires cannot ${what}. Sign in instead.`
      : `Your role is limited to databases, so you cannot ${what}.`,
    { field },
  )
}

/**
 * Increments the store-wide revision and returns it. The row stays locked until the transaction
 * ends, so revisions follow commit order, and a rollback leaves no gap.
 */
export async function nextRevision(trx: Change): Promise<number> {
  const { value } = await raiseRevision(trx).executeTakeFirstOrThrow()
  return value
}

/** Returns the statement of {@link nextRevision}. */
export const raiseRevision = (trx: Change) =>
  trx
    .updateTable('counters')
    .set((eb) => ({ value: eb('value', '+', 1) }))
    .where('name', '=', 'revision')
    .returning('value')
