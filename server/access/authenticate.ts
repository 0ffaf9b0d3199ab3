import type { Principal } from '../contract/principal.ts'
import { lowerOf, type Role } from '../contract/role.ts'
import { Failure } from '../failure.ts'
import type { Store } from '../storage/open.ts'
import { hashSecret, isTokenText } from './secret-text.ts'
import { type FoundSession, findSession, IDLE, TOUCH } from './sessions.ts'
import { type FoundToken, findToken } from './tokens.ts'
import type { UseRecorder } from './use-recorder.ts'

/** What a request brings to be known by. */
export interface Credentials {
  /** The header `Authorization`; beats the cookie. */
  readonly authorization: string | undefined
  /** The secret of the session's cookie. */
  readonly session: string | undefined
  /** Whether nobody need be there who asks: then it is no use of the session. */
  readonly background?: boolean
}

/** Tells who a request comes from. */
export interface Authenticator {
  /**
   * The principal of a request; undefined where it brings no credentials, or a session that is over.
   *
   * @throws Failure `unauthenticated` where it brings a token, or something in its place, that is
   * not valid: whoever sends one means to be known by it.
   */
  authenticate(credentials: Credentials): Promise<Principal | undefined>
  /**
   * What {@link authenticate} would answer, where that is remembered; undefined: ask it. Most requests
   * are of somebody who asked a moment ago, and a promise for each of them is most of what it would
   * cost to know them.
   */
  recall(credentials: Credentials): Principal | undefined
  /**
   * Who it was the last time, where the store said so not long ago (30 s): for requests that only read
   * while the store is away. Nothing where sessions, tokens or roles are known to have changed since.
   */
  lastKnown(credentials: Credentials): Principal | undefined
  /** Forgets what is remembered, after sessions, tokens or roles have changed. */
  forget(): void
}

interface Remembered {
  /** Never changed, but replaced. */
  principal: Principal
  /** When the credential was last used, to {@link PRECISION}, and when its use was last recorded. */
  used: number
  recorded: number
}

/** What the store has said of somebody, and when, ms since 1970. */
interface Known {
  readonly found: Remembered
  readonly at: number
}

/** How exactly it is known when a session was last used, ms. */
const PRECISION = 1_000

/** So long after the store has said who it is somebody may still look, ms. */
const LAST_KNOWN = 30_000

/** How many of each kind are remembered; then all are forgotten, which costs a look-up each. */
const MOST_REMEMBERED = 10_000

/**
 * Makes an {@link Authenticator}. On SQLite, where every change of another process is noticed before
 * the next request, what was found is remembered until something changes; with PostgreSQL every
 * request asks the store, so that a session ended at one node is dead at the others at once.
 */
export function createAuthenticator(
  store: Store,
  now: () => number,
  uses: Pick<UseRecorder, 'session' | 'sessionUse' | 'token'>,
): Authenticator {
  const remembers = store.engine === 'sqlite'
  // Apart, so that what is found in one place does not count in the other.
  const sessions = new Map<string, Remembered>()
  const tokens = new Map<string, Remembered>()
  const last = { session: new Map<string, Known>(), token: new Map<string, Known>() }
  let forgotten = 0

  /** `since`: how often had been forgotten when the store was asked; an older answer is not kept. */
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

  async function bySession(secret: string, background = false): Promise<Principal | undefined> {
    const hash = hashSecret(secret)
    let found = sessions.get(hash)
    if (found === undefined) {
      const since = forgotten
      const row = await findSession(store, hash)
      if (row === undefined) {
        last.session.delete(hash)
        return undefined
      }
      found = remember(sessions, hash, ofSession(row, uses.sessionUse(hash)), since)
    }
    const at = now()
    if (isOver(found, at)) return undefined
    return background ? found.principal : sessionUsed(found, hash, at)
  }

  async function byToken(text: string): Promise<Principal> {
    const hash = hashSecret(text)
    let found = tokens.get(hash)
    if (found === undefined && isTokenText(text)) {
      const since = forgotten
      const row = await findToken(store, hash)
      if (row === undefined) last.token.delete(hash)
      else found = remember(tokens, hash, ofToken(row), since)
    }
    const at = now()
    if (found === undefined) throw notValid('The token is not valid.')
    if (isOver(found, at)) throw notValid('The token has expired.')
    return tokenUsed(found, at)
  }

  return {
    async authenticate({ authorization, session, background }) {
      if (authorization !== undefined) return byToken(tokenOf(authorization))
      return session === undefined ? undefined : bySession(session, background)
    },
    recall({ authorization, session, background = false }) {
      const isToken = authorization !== undefined
      const secret = isToken ? bearerOf(authorization) : session
      if (secret === undefined) return undefined
      const hash = hashSecret(secret)
      const found = (isToken ? tokens : sessions).get(hash)
      const at = now()
      if (found === undefined || isOver(found, at)) return undefined
      if (isToken) return tokenUsed(found, at)
      return background ? found.principal : sessionUsed(found, hash, at)
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

/** Whether it has expired, or a session was not used for too long. */
function isOver({ principal: { by, expires }, used }: Remembered, at: number): boolean {
  return (expires !== null && at >= expires) || (by === 'session' && at >= used + IDLE)
}

/** Notes that a session was used, and gives its principal as it is from then on. */
function slide(found: Remembered, at: number): Principal {
  if (at - found.used >= PRECISION) {
    found.used = at
    const idleExpires = Math.min(at + IDLE, found.principal.expires ?? Infinity)
    found.principal = { ...found.principal, idleExpires }
  }
  return found.principal
}

const BEARER = 'Bearer '

/** The token of a header as most clients write it; {@link tokenOf} reads the others. */
const bearerOf = (header: string): string | undefined =>
  header.startsWith(BEARER) ? header.slice(BEARER.length) : undefined

/** The token of an `Authorization` header: Bearer (RFC 6750), or Basic without a password. */
function tokenOf(header: string): string {
  const [, scheme, value = ''] = /^([A-Za-z]+) +(\S+) *$/.exec(header) ?? []
  if (scheme?.toLowerCase() === 'bearer') return value
  if (scheme?.toLowerCase() !== 'basic') {
    throw notValid('Send a token, as "Authorization: Bearer TOKEN" or as the user part of the URL.')
  }
  const [user = '', ...password] = Buffer.from(value, 'base64').toString('utf8').split(':')
  if (password.join(':') !== '') {
    throw notValid('A token stands in the user part of the URL alone; the password is left empty.')
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
