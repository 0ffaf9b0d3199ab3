import type { Principal } from '../contract/access/principal.ts'
import { lowerRole, role } from '../contract/access/role.ts'
import { SESSION_IDLE } from '../contract/access/session-use.ts'
import { databaseNames } from '../contract/database.ts'
import { parseColumn, parseJsonColumn } from '../storage/sql/parse-column.ts'
import type { CredentialOwner, FoundSession, FoundToken } from './find-credential.ts'
import type { LastUseRecorder } from './last-use-recorder.ts'

export interface CachedPrincipal {
  /** Replaced when it changes, never mutated. */
  principal: Principal
  /**
   * `used`: last use of the credential, to {@link PRECISION}. `recorded`: last use passed to the
   * {@link LastUseRecorder}. Both in ms since 1970.
   */
  used: number
  recorded: number
}

/** Precision of a session's last use, ms. */
const PRECISION = 1_000

/**
 * Whether the credential has expired, or the session has been idle for longer than
 * {@link SESSION_IDLE}.
 */
export function isExpired(
  { principal: { by, expires }, used }: CachedPrincipal,
  at: number,
): boolean {
  return (expires !== null && at >= expires) || (by === 'session' && at >= used + SESSION_IDLE)
}

/** Sets the last use of a session and returns the principal with its new idle expiry. */
export function extendSession(found: CachedPrincipal, at: number): Principal {
  if (at - found.used >= PRECISION) {
    found.used = at
    const idleExpires = Math.min(at + SESSION_IDLE, found.principal.expires ?? Infinity)
    found.principal = { ...found.principal, idleExpires }
  }
  return found.principal
}

export function sessionPrincipal(row: FoundSession, unstoredUse = 0): CachedPrincipal {
  const used = Math.max(row.last_seen_at, unstoredUse)
  return {
    used,
    recorded: used,
    principal: {
      ...ownerOf(row),
      role: roleOf(row),
      by: 'session',
      databases: null,
      credential: row.id,
      expires: row.expires_at,
      idleExpires: Math.min(used + SESSION_IDLE, row.expires_at),
    },
  }
}

export function tokenPrincipal(row: FoundToken): CachedPrincipal {
  return {
    used: 0,
    recorded: row.last_used_at ?? 0,
    principal: {
      ...ownerOf(row),
      role: lowerRole(parseColumn(role, 'tokens.role', row.role), roleOf(row)),
      by: 'token',
      databases:
        row.databases === null
          ? null
          : parseJsonColumn(databaseNames, 'tokens.databases', row.databases),
      credential: row.id,
      expires: row.expires_at,
      idleExpires: null,
    },
  }
}

const ownerOf = (row: CredentialOwner) => ({
  personId: row.person_id,
  username: row.username,
  name: row.person_name,
  provider: row.provider,
})

const roleOf = (row: CredentialOwner) => parseColumn(role, 'people.role', row.person_role)
