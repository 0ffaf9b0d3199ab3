import type { Context, MiddlewareHandler } from 'hono'
import { createMiddleware } from 'hono/factory'
import type { Principal } from '../contract/principal.ts'
import { atLeast, type Role } from '../contract/role.ts'
import { BACKGROUND_HEADER } from '../contract/session-use.ts'
import { Failure } from '../failure.ts'
import type { Client, ClientOf } from './client.ts'
import type { AppEnv, Asked } from './env.ts'
import { requireOwnHost } from './guard-host.ts'
import { guardBasic, guardOrigin, isFromBrowser } from './guard-origin.ts'
import type { SessionCookie } from './session-cookie.ts'

interface Credentials {
  readonly authorization: string | undefined
  readonly session: string | undefined
  readonly background: boolean
}

/** What decides whether a request may do what it asks. */
export interface PermitDeps {
  /** Who the credentials belong to (`access/authenticate.ts`). */
  readonly authenticate: (credentials: Credentials) => Promise<Principal | undefined>
  /** The same where it is known without waiting; undefined: it is to be asked for. */
  readonly recall: (credentials: Credentials) => Principal | undefined
  /** Who it was a moment ago; asked where the store is away and the request only reads. */
  readonly lastKnown: (credentials: Credentials) => Principal | undefined
  /** Counts a token that was not valid; throws `too-many-requests` when there were too many. */
  readonly countFailure: (client: Client) => void
  readonly clientOf: ClientOf
  readonly cookie: SessionCookie
  /** Whether a host name is of an endpoint or of the public URL. */
  readonly isOurHost: (host: string) => boolean
  readonly publicOrigin: string | undefined
}

/**
 * What a route asks of whoever comes: a role; `known`: nothing, but credentials count where there are
 * any; `public`: nothing, and credentials are not looked at.
 */
export type Permission = Role | 'known' | 'public'

/** What a route declares beside its permission. */
export interface Terms {
  /**
   * The role that a token needs, where that is more: for what is its owner's as a person. A token
   * does no more than its role says, and to change people, sessions and tokens takes an admin's.
   */
  readonly byToken?: Role
  /**
   * Asking does not count as use of the session, whoever asks, for nobody need be there. Elsewhere a
   * request says so itself by {@link BACKGROUND_HEADER}.
   */
  readonly background?: true
}

/** Makes the middleware that every route declares its permission with. */
export type Permit = (needed: Permission, terms?: Terms) => MiddlewareHandler<AppEnv>

const PERMISSION = Symbol('permission')

/** What a {@link Permit} has declared. */
export interface Declared {
  readonly bySession: Permission
  readonly byToken: Permission
}

/** The permissions that a handler declares; undefined: it is no {@link Permit}. */
export const permissionOf = (handler: unknown): Declared | undefined =>
  (handler as { [PERMISSION]?: Declared })[PERMISSION]

/**
 * Makes a {@link Permit}: checks the credentials of a request and sets `principal` and `actor` for
 * what follows.
 *
 * Fails with `unauthenticated`, `forbidden`, `misdirected`, `too-many-requests`.
 */
export function createPermit(deps: PermitDeps): Permit {
  /** What becomes of credentials that are not valid. */
  function refused(error: unknown, client: Client): never {
    if (!(error instanceof Failure) || error.code !== 'unauthenticated') throw error
    deps.countFailure(client)
    throw error
  }

  /** Whoever was known a moment ago may still look at what needs no store, while it is away. */
  function stillKnown(error: unknown, method: string, credentials: Credentials): Principal {
    const isAway = error instanceof Failure && error.code === 'unavailable'
    const reads = method === 'GET' || method === 'HEAD'
    const principal = isAway && reads ? deps.lastKnown(credentials) : undefined
    if (principal === undefined) throw error
    return principal
  }

  /** Tells what follows who asks. */
  function introduce(c: Context<AppEnv>, client: Client, principal: Principal): void {
    c.set('principal', principal)
    c.set('actor', { name: principal.username, by: principal.by, address: client.address })
    guardBrowser(deps, c, client)
  }

  return (needed, { byToken, background } = {}) => {
    const declared: Declared = { bySession: needed, byToken: byToken ?? needed }
    if (needed === 'public') return Object.assign(pass, { [PERMISSION]: declared })
    const admit = (c: Context<AppEnv>, client: Client, principal: Principal | undefined) => {
      if (principal !== undefined) introduce(c, client, principal)
      if (needed === 'known') return
      judge(principal, needed, c.get('database'))
      if (byToken !== undefined) judgeToken(principal, byToken)
    }
    const middleware = createMiddleware<AppEnv>((c, next) => {
      const client = deps.clientOf(c)
      const credentials = credentialsOf(deps, c, client, background)
      const known = deps.recall(credentials)
      if (known !== undefined) {
        admit(c, client, known)
        return next()
      }
      return deps
        .authenticate(credentials)
        .catch((error: unknown) => stillKnown(error, c.req.method, credentials))
        .catch((error: unknown) => refused(error, client))
        .then((principal) => {
          admit(c, client, principal)
          return next()
        })
    })
    return Object.assign(middleware, { [PERMISSION]: declared })
  }
}

const pass = createMiddleware<AppEnv>((_c, next) => next())

/**
 * Whether a request may do in a database what a role may, judged as by a {@link Permit} where it is
 * known without waiting who asks; false: a permit is to decide.
 *
 * @throws Failure what the permit would refuse it with.
 */
export type PermitAtOnce = (asked: Asked, needed: Role, database: string) => boolean

/** Makes a {@link PermitAtOnce}. */
export function createPermitAtOnce(deps: PermitDeps): PermitAtOnce {
  return (asked, needed, database) => {
    const client = deps.clientOf(asked)
    const principal = deps.recall(credentialsOf(deps, asked, client))
    if (principal === undefined) return false
    guardBrowser(deps, asked, client)
    judge(principal, needed, database)
    return true
  }
}

const credentialsOf = (
  { cookie }: PermitDeps,
  asked: Asked,
  { secure }: Client,
  background = false,
): Credentials => ({
  authorization: asked.req.header('Authorization'),
  session: cookie.read(asked, secure),
  background: background || asked.req.header(BACKGROUND_HEADER) !== undefined,
})

/**
 * Rejects a request that another web page made a browser send: a browser adds cookies and remembered
 * Basic credentials by itself.
 */
function guardBrowser(deps: PermitDeps, asked: Asked, { host }: Client): void {
  const authorization = asked.req.header('Authorization')
  if (authorization === undefined) {
    requireOwnHost(host, deps.isOurHost)
    guardOrigin(asked, deps.publicOrigin)
  } else if (isFromBrowser(asked) && isBasic(authorization)) {
    requireOwnHost(host, deps.isOurHost)
    guardBasic(asked, deps.publicOrigin)
  }
}

/** Whether a principal may do in a database what a role may. */
function judge(principal: Principal | undefined, needed: Role, database: string): void {
  if (principal === undefined) throw notSignedIn('Sign in, or send a token.')
  if (!atLeast(principal.role, needed)) {
    throw new Failure(
      'forbidden',
      principal.role === 'pending'
        ? 'You are signed in and have no role yet. An admin can give you one.'
        : `This takes the role ${needed}; you are ${principal.role}.`,
    )
  }
  if (principal.databases !== null && !principal.databases.includes(database)) {
    throw new Failure('forbidden', 'The token is not for this database.')
  }
}

/** Whether a token may do what its owner may as the person who is signed in. */
function judgeToken(principal: Principal | undefined, needed: Role): void {
  if (principal?.by !== 'token' || atLeast(principal.role, needed)) return
  throw new Failure(
    'forbidden',
    `With a token this takes the role ${needed}; this one is ${principal.role}. Sign in to do it.`,
  )
}

const notSignedIn = (message: string) => new Failure('unauthenticated', message)

/** Whether an `Authorization` header uses HTTP Basic (RFC 7617): a token as the user part of a URL. */
const isBasic = (authorization: string) => authorization.slice(0, 6).toLowerCase() === 'basic '
