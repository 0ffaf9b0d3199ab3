import type { Principal } from '../contract/access/principal.ts'
import { lowerOf, type Role } from '../contract/access/role.ts'
import { Failure } from '../failure.ts'
import type { Store } from '../storage/open.ts'
import { hashSecret, isTokenText } from './secret-text.ts'
import { type FoundSession, findSession, IDLE, TOUCH } from './sessions.ts'
import { type FoundToken, findToken } from './tokens.ts'
import type { UseRecorder } from './use-recorder.ts'

/** Credentials of a request. */
export interface Credentials {
  /** The `Authorization` header. It takes precedence over the session. */
  readonly authorization: string | undefined
  /** The secret in the session cookie. */
  readonly session: string | undefined
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
   * Returns the principal that the database confirmed in the last 30 s, for requests that only read
   * while PostgreSQL is unavailable (docs/decisions/0013-postgresql-outages.md). Returns undefined
   * if sessions, tokens or roles have changed since, and always on SQLite.
   */
  lastKnown(credentials: Credentials): Principal | undefined
  /** Clears the cache. Call it after sessions, tokens or roles have changed. */
  forget(): void
}

interface Remembered {
  /** Replaced when it changes, never mutated. */
  principal: Principal
  /**
   * `used`: last use of the credential, to {@link PRECISION}. `recorded`: last use passed to the
   * {@link UseRecorder}. Both in ms since 1970.
   */
  used: number
  recorded: number
}

/** A principal that the database has confirmed, and when, ms since 1970. */
interface Known {
  readonly found: Remembered
  readonly at: number
}

/** Precision of a session's last use, ms. */
const PRECISION = 1_000

/** How long {@link Authenticator.lastKnown} trusts a principal, ms. */
const LAST_KNOWN = 30_000

/** Maximum number of cached sessions, and of cached tokens. A full cache is cleared. */
const MOST_REMEMBERED = 10_000

/**
 * Creates an {@link Authenticator}. On SQLite, principals are cached until something changes: the
 * server notices each change of another process before the next request. On PostgreSQL, each
 * request queries the database, so a session that one node ends is invalid on all nodes
 * immediately.
 */
export function createAuthenticator(
  store: Store,
  now: () => number,
  uses: Pick<UseRecorder, 'session' | 'sessionUse' | 'token'>,
): Authenticator {
  const remembers = store.engine === 'sqlite'
  // Separate maps, so that a session secret is never accepted as a token or the reverse.
  const sessions = new Map<string, Remembered>()
  const tokens = new Map<string, Remembered>()
  const last = { session: new Map<string, Known>(), token: new Map<string, Known>() }
  let forgotten = 0

  /**
   * Caches a principal, unless the cache was cleared after the query began.
   *
   * @param since value of `forgotten` when the query began.
   */
  function remember(
    remembered: Map<string, Remembered>,
    hash: string,
    found: Remembered,
    since: number,
  ): Remembered {
    if (!remembers && since === forgotten) {
      const known = last[found.principal.by]
      if (known.size >= MOST_REMEMBERED) known.clear()
      known.set(hash, { found, at: now() })
    }
    if (remembers && since === forgotten) {
      if (remembered.size >= MOST_REMEMBERED) remembered.clear()
      remembered.set(hash, found)
    }
    return found
  }

  function sessionUsed(found: Remembered, hash: string, at: number): Principal {
    if (at - found.recorded >= TOUCH) {
      found.recorded = at
      uses.session(hash, at)
    }
    return slide(found, at)
  }

  function tokenUsed(found: Remembered, at: number): Principal {
    if (at - found.recorded >= TOUCH) {
      found.recorded = at
      uses.token(found.principal.credential, at)
    }
    return found.principal
  }

  function bySession(found: Remembered, hash: string, background: boolean): Principal | undefined {
    const at = now()
    if (isOver(found, at)) return undefined
    return background ? found.principal : sessionUsed(found, hash, at)
  }

  function byToken(found: Remembered): Principal {
    const at = now()
    if (isOver(found, at)) throw notValid('The token has expired.')
    return tokenUsed(found, at)
  }

  async function queriedSession(hash: string): Promise<Remembered | undefined> {
    const since = forgotten
    const row = await findSession(store, hash)
    if (row !== undefined)
      return remember(sessions, hash, ofSession(row, uses.sessionUse(hash)), since)
    last.session.delete(hash)
    return undefined
  }

  async function queriedToken(hash: string): Promise<Remembered> {
    const since = forgotten
    const row = await findToken(store, hash)
    if (row !== undefined) return remember(tokens, hash, ofToken(row), since)
    last.token.delete(hash)
    throw notValid('The token is not valid.')
  }

  return {
    authenticate({ authorization, session, background = false }) {
      if (authorization !== undefined) {
        const token = tokenOf(authorization)
        const hash = hashSecret(token)
        const cached = tokens.get(hash)
        if (cached !== undefined) return byToken(cached)
        if (!isTokenText(token)) throw notValid('The token is not valid.')
        return queriedToken(hash).then(byToken)
      }
      if (session === undefined) return undefined
      const hash = hashSecret(session)
      const cached = sessions.get(hash)
      if (cached !== undefined) return bySession(cached, hash, background)
      return queriedSession(hash).then((found) => found && bySession(found, hash, background))
    },
    lastKnown({ authorization, session }) {
      const isToken = authorization !== undefined
      const secret = isToken ? tokenOf(authorization) : session
      if (secret === undefined) return undefined
      const known = last[isToken ? 'token' : 'session'].get(hashSecret(secret))
      const at = now()
      if (known === undefined || at >= known.at + LAST_KNOWN || isOver(known.found, at)) {
        return undefined
      }
      return isToken ? known.found.principal : slide(known.found, at)
    },
    forget() {
      forgotten++
      last.session.clear()
      last.token.clear()
      sessions.clear()
      tokens.clear()
    },
  }
}

/**
 * Whether the credential has expired, or the session has been idle for longer than {@link IDLE}.
 */
function isOver({ principal: { by, expires }, used }: Remembered, at: number): boolean {
  return (expires !== null && at >= expires) || (by === 'session' && at >= used + IDLE)
}

/** Sets the last use of a session and returns the principal with its new idle expiry. */
function slide(found: Remembered, at: number): Principal {
  if (at - found.used >= PRECISION) {
    found.used = at
    const idleExpires = Math.min(at + IDLE, found.principal.expires ?? Infinity)
    found.principal = { ...found.principal, idleExpires }
  }
  return found.principal
}

/**
 * Returns the token of an `Authorization` header: Bearer (RFC 6750), or the user name of Basic with
 * an empty password.
 *
 * @throws Failure `unauthenticated`
 */
function tokenOf(header: string): string {
  const [, scheme, value = ''] = /^([A-Za-z]+) +(\S+) *$/.exec(header) ?? []
  if (scheme?.toLowerCase() === 'bearer') return value
  if (scheme?.toLowerCase() !== 'basic') {
    throw notValid('Send a token as "Authorization: Bearer TOKEN" or as the user name in the URL.')
  }
  const [user = '', ...password] = Buffer.from(value, 'base64').toString('utf8').split(':')
  if (password.join(':') !== '') {
    throw notValid('Send the token as the user name in the URL and leave the password empty.')
  }
  return user
}

const notValid = (message: string) => new Failure('unauthenticated', message)

function ofSession(row: FoundSession, unstoredUse = 0): Remembered {
  const used = Math.max(row.last_seen_at, unstoredUse)
  return {
    used,
    recorded: used,
    principal: {
      personId: row.person_id,
      username: row.username,
      name: row.name,
      provider: row.provider,
      role: row.role as Role,
      by: 'session',
      databases: null,
      credential: row.id,
      expires: row.expires_at,
      idleExpires: Math.min(used + IDLE, row.expires_at),
    },
  }
}

function ofToken(row: FoundToken): Remembered {
  return {
    used: 0,
    recorded: row.last_used_at ?? 0,
    principal: {
      personId: row.owner_id,
      username: row.username,
      name: row.person_name,
      provider: row.provider,
      role: lowerOf(row.role as Role, row.owner_role as Role),
      by: 'token',
      databases: row.databases === null ? null : (JSON.parse(row.databases) as string[]),
      credential: row.id,
      expires: row.expires_at,
      idleExpires: null,
    },
  }
}
