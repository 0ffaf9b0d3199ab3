import { lowerRole, type Principal, role } from '../contract/access/principal.ts'
import { intersectScopes } from '../contract/access/scope.ts'
import {
  SESSION_IDLE,
  TOKEN_RECORD_INTERVAL,
  USE_RECORD_INTERVAL,
} from '../contract/access/session.ts'
import { TOKEN_HEADERS } from '../contract/access/token.ts'
import { Failure } from '../failure.ts'
import { hashSecret } from '../secret.ts'
import { parseColumn, parseScope } from '../storage/sql/parse-column.ts'
import type { Store } from '../storage/store.ts'
import {
  type CredentialOwner,
  createFindSession,
  createFindToken,
  type FoundSession,
  type FoundToken,
} from './find-credential.ts'
import type { LastUseRecorder } from './last-use-recorder.ts'
import { isTokenText } from './secrets/secret-text.ts'
import { type SessionDeps, wasReplaced } from './sessions.ts'

/** Credentials of a request. */
export interface Credentials {
  /** The `Authorization` header. It takes precedence over the session. */
  readonly authorization: string | undefined
  /** The secret in the session cookie. */
  readonly session: string | undefined
  /** The id of the token that the client certificate of the connection stands for. */
  readonly certificate?: string | undefined
  /**
   * Whether the client sends the request without user activity. Such a request does not extend the
   * session.
   */
  readonly background?: boolean
}

/** Authenticates requests. See docs/decisions/0006-authentication-cache.md. */
export interface Authenticator {
  /**
   * Returns the principal of a request. Returns undefined if the request has no credentials or its
   * session has ended. Returns a promise only if it must query the store.
   *
   * @throws Failure `unauthenticated` if the request has an `Authorization` header without a valid
   *   token. The session is not tried.
   */
  authenticate(credentials: Credentials): Principal | undefined | Promise<Principal | undefined>
  /**
   * Returns the owner of a session that the database confirmed in the last 30 s, for requests that
   * only read what is in memory while PostgreSQL is unavailable
   * (docs/decisions/0013-postgresql-outages.md). Returns undefined if sessions, tokens or roles have
   * changed since, for requests with a token, and always on SQLite.
   */
  lastKnown(credentials: Credentials): Principal | undefined
  /** Clears the cache. Call it after sessions, tokens or roles have changed. */
  clearCache(): void
}

/** A principal that the store has confirmed, and when, by a monotonic clock, ms. */
interface ConfirmedPrincipal {
  readonly found: CachedPrincipal
  readonly at: number
}

/** How long {@link Authenticator.lastKnown} trusts a principal, ms. */
const LAST_KNOWN_FOR = 30_000

/** Maximum number of cached sessions, and of cached tokens. A full cache is cleared. */
const MAX_CACHED = 10_000

export interface AuthenticatorDeps {
  readonly store: Store
  /** Returns the time, ms since 1970. */
  readonly now: () => number
  readonly uses: Pick<LastUseRecorder, 'session' | 'sessionUse' | 'token'>
  /** Returns the time of a monotonic clock, ms. */
  readonly steady?: (() => number) | undefined
  readonly operatorKey?: SessionDeps['operatorKey']
}

/**
 * Creates an {@link Authenticator}. On SQLite, principals are cached until something changes: the
 * server notices each change of another process before the next request. On PostgreSQL, each
 * request queries the store, so a session that one node ends is invalid on all nodes
 * immediately.
 */
export function createAuthenticator({
  store,
  now,
  uses,
  steady = () => performance.now(),
  operatorKey,
}: AuthenticatorDeps): Authenticator {
  const isCached = store.engine === 'sqlite'
  const findSession = createFindSession(store)
  const findToken = createFindToken(store)
  // Separate maps, so that a session secret is never accepted as a token or the reverse.
  const sessions = new Map<string, CachedPrincipal>()
  const tokens = new Map<string, CachedPrincipal>()
  const lastSessions = new Map<string, ConfirmedPrincipal>()
  let cleared = 0

  /**
   * Caches a principal, unless the cache was cleared after the query began.
   *
   * @param since value of `cleared` when the query began.
   */
  function cache(
    cachedPrincipals: Map<string, CachedPrincipal>,
    hash: string,
    found: CachedPrincipal,
    since: number,
  ): CachedPrincipal {
    if (!isCached && since === cleared && found.principal.by === 'session') {
      if (lastSessions.size >= MAX_CACHED) lastSessions.clear()
      lastSessions.set(hash, { found, at: steady() })
    }
    if (isCached && since === cleared) {
      if (cachedPrincipals.size >= MAX_CACHED) cachedPrincipals.clear()
      cachedPrincipals.set(hash, found)
    }
    return found
  }

  function sessionUsed(found: CachedPrincipal, hash: string, at: number): Principal {
    if (at - found.recorded >= USE_RECORD_INTERVAL) {
      found.recorded = at
      uses.session(hash, at)
    }
    return extendSession(found, at)
  }

  function tokenUsed(found: CachedPrincipal, at: number): Principal {
    if (at - found.recorded >= TOKEN_RECORD_INTERVAL) {
      found.recorded = at
      uses.token(found.principal.credential, at)
    }
    return found.principal
  }

  function bySession(
    found: CachedPrincipal,
    hash: string,
    background: boolean,
  ): Principal | undefined {
    const at = now()
    if (isExpired(found, at)) return undefined
    return background ? found.principal : sessionUsed(found, hash, at)
  }

  function byToken(found: CachedPrincipal): Principal {
    const at = now()
    if (isExpired(found, at)) throw notValid('The token has expired.')
    return tokenUsed(found, at)
  }

  function queriedSession(hash: string): Promise<CachedPrincipal | undefined> {
    const since = cleared
    return findSession(hash).then(({ rows: [row] }) => {
      if (row !== undefined && !wasReplaced(row.operator_key, operatorKey))
        return cache(sessions, hash, sessionPrincipal(row, uses.sessionUse(hash)), since)
      lastSessions.delete(hash)
      return undefined
    })
  }

  function queriedToken(find: typeof findToken.byHash, key: string): Promise<Principal> {
    const since = cleared
    return find(key).then(({ rows: [row] }) => {
      if (row !== undefined) return byToken(cache(tokens, key, tokenPrincipal(row), since))
      throw notValid(
        find === findToken.byHash
          ? 'The token is not valid.'
          : 'The token of this client certificate has been revoked.',
      )
    })
  }

  return {
    authenticate({ authorization, session, certificate, background = false }) {
      if (authorization !== undefined) {
        const token = tokenOf(authorization)
        const hash = hashSecret(token)
        const cached = tokens.get(hash)
        if (cached !== undefined) return byToken(cached)
        if (!isTokenText(token)) throw notValid(`This is not a token. Send ${TOKEN_HEADERS}.`)
        return queriedToken(findToken.byHash, hash)
      }
      if (certificate !== undefined) {
        // No hash of a token is the id of one.
        const cached = tokens.get(certificate)
        return cached ? byToken(cached) : queriedToken(findToken.byId, certificate)
      }
      if (session === undefined) return undefined
      const hash = hashSecret(session)
      const cached = sessions.get(hash)
      if (cached !== undefined) return bySession(cached, hash, background)
      return queriedSession(hash).then((found) => found && bySession(found, hash, background))
    },
    lastKnown({ authorization, session }) {
      if (authorization !== undefined || session === undefined) return undefined
      const cached = lastSessions.get(hashSecret(session))
      if (cached === undefined || steady() >= cached.at + LAST_KNOWN_FOR) return undefined
      const at = now()
      if (isExpired(cached.found, at)) return undefined
      return extendSession(cached.found, at)
    },
    clearCache() {
      cleared++
      lastSessions.clear()
      sessions.clear()
      tokens.clear()
    },
  }
}

/**
 * Returns the token of an `Authorization` header: Bearer (RFC 6750), or the user name of Basic. Any
 * password is accepted, because some clients always send one.
 *
 * @throws Failure `unauthenticated`
 */
function tokenOf(header: string): string {
  const [, scheme, value = ''] = /^([A-Za-z]+) +(\S+) *$/.exec(header) ?? []
  if (scheme?.toLowerCase() === 'bearer') return value
  if (scheme?.toLowerCase() !== 'basic') {
    throw notValid(`Send a token: ${TOKEN_HEADERS}.`)
  }
  const [user = ''] = Buffer.from(value, 'base64').toString('utf8').split(':', 1)
  return user
}

const notValid = (message: string) => new Failure('unauthenticated', message)

interface CachedPrincipal {
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
function isExpired({ principal: { by, expires }, used }: CachedPrincipal, at: number): boolean {
  return (expires !== null && at >= expires) || (by === 'session' && at >= used + SESSION_IDLE)
}

/** Sets the last use of a session and returns the principal with its new idle expiry. */
function extendSession(found: CachedPrincipal, at: number): Principal {
  if (at - found.used >= PRECISION) {
    found.used = at
    const idleExpires = Math.min(at + SESSION_IDLE, found.principal.expires ?? Infinity)
    found.principal = { ...found.principal, idleExpires }
  }
  return found.principal
}

function sessionPrincipal(row: FoundSession, unstoredUse = 0): CachedPrincipal {
  const used = Math.max(row.last_seen_at, unstoredUse)
  return {
    used,
    recorded: used,
    principal: {
      ...ownerOf(row),
      role: roleOf(row),
      by: 'session',
      databases: scopeOf(row),
      credential: row.id,
      tokenName: null,
      expires: row.expires_at,
      idleExpires: Math.min(used + SESSION_IDLE, row.expires_at),
    },
  }
}

function tokenPrincipal(row: FoundToken): CachedPrincipal {
  return {
    used: 0,
    recorded: row.last_used_at ?? 0,
    principal: {
      ...ownerOf(row),
      role: lowerRole(parseColumn(role, 'tokens.role', row.role), roleOf(row)),
      by: 'token',
      databases: intersectScopes(parseScope('tokens.databases', row.databases), scopeOf(row)),
      credential: row.id,
      tokenName: row.name,
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

const scopeOf = (row: CredentialOwner) => parseScope('people.databases', row.person_databases)
