import type { Context, MiddlewareHandler } from 'hono'
import { createMiddleware } from 'hono/factory'
import {
  type AccessRole,
  atLeast,
  type Principal,
  type Role,
} from '../../contract/access/principal.ts'
import { inScope } from '../../contract/access/scope.ts'
import { BACKGROUND_HEADER } from '../../contract/access/session.ts'
import { TOKEN_HEADERS } from '../../contract/access/token.ts'
import { invariant } from '../../contract/invariant.ts'
import { Failure } from '../../failure.ts'
import type { AppEnv } from '../env.ts'
import { requestHeader, splitUnquoted } from '../input/headers.ts'
import { pathParam } from '../input/url.ts'
import type { Client, ClientOf } from './client-address.ts'
import { checkAdmitted, enforceRules, requireWritable } from './endpoint-rules.ts'
import { requireOwnHost } from './guard-host.ts'
import { guardBasic, guardOrigin, isFromBrowser } from './guard-origin.ts'
import type { SessionCookie } from './session-cookie.ts'

interface Credentials {
  readonly authorization: string | undefined
  readonly session: string | undefined
  readonly certificate?: string | undefined
  readonly background: boolean
}

export interface RequireRoleDeps {
  /** Returns the owner of the credentials (`access/authenticate.ts`). */
  readonly authenticate: (
    credentials: Credentials,
  ) => Principal | undefined | Promise<Principal | undefined>
  /** Returns the last known owner. Used for `inMemory` routes while the store is unavailable. */
  readonly lastKnown: (credentials: Credentials) => Principal | undefined
  /** Counts an invalid token; throws `too-many-requests` above the limit. */
  readonly countFailure: (client: Client) => void
  readonly clientOf: ClientOf
  readonly cookie: SessionCookie
  /** Syncs changes made by another process; undefined if there are none. */
  readonly catchUp: () => Promise<void> | undefined
  /** Returns whether a host belongs to an endpoint or to the public URL. */
  readonly isOwnHost: (host: string) => boolean
  readonly publicOrigin: string | undefined
}

/**
 * The permission that a route requires: a role; `known`, which admits everyone and authenticates
 * credentials that are sent; or `public`, which admits everyone and ignores credentials.
 */
export type Permission = AccessRole | 'known' | 'public'

/** Options of the permission of a route. */
export interface RouteOptions {
  /**
   * The role that a token needs, if it is higher: for resources that belong to the token's owner as
   * a person. A token has only the permissions of its role, and changing people, sessions and
   * tokens requires an admin's token.
   */
  readonly byToken?: AccessRole
  /**
   * Whether a session may change something under `/_api` although the person is limited to other
   * databases than `_system`: for what belongs to the person.
   */
  readonly anyScope?: true
  /** Whether the handler compares the scope of the caller with the database that it affects. */
  readonly ownScope?: true
  /**
   * Requests to this route never count as use of the session, because the page sends them without
   * the user. On other routes a request sets {@link BACKGROUND_HEADER} for the same effect.
   */
  readonly background?: true
  /**
   * The response needs no store. While the store is unavailable, the last known caller may read it.
   */
  readonly inMemory?: true
  /**
   * Whether the route reads documents of the collection in its path, which the policy of the
   * endpoint may open to everyone.
   */
  readonly documents?: true
  /**
   * Called while the store looks up the credentials, to start reads that share the round trip. The
   * caller may turn out to have no permission, so it must not change anything. It must not throw.
   */
  readonly readAhead?: (c: Context<AppEnv>) => void
}

/** Returns the middleware that enforces a route's permission. */
export type RequireRole = (needed: Permission, options?: RouteOptions) => MiddlewareHandler<AppEnv>

/** Returns the authenticated caller. The route must require a role. */
export function principalOf(c: Context<AppEnv>): Principal {
  const principal = c.get('principal')
  invariant(principal !== undefined, 'a route that reads the caller requires a role')
  return principal
}

/**
 * Returns the authenticated caller as the author of an administrative change, which authorizes the
 * caller again in its transaction (`storage/changes/begin-change.ts`).
 */
export const callerOf = (c: Context<AppEnv>) => ({
  ...c.get('actor'),
  authorization: principalOf(c),
})

const PERMISSION = Symbol('permission')

/** The permissions that a route declares. */
export interface Declared {
  readonly bySession: Permission
  readonly byToken: Permission
  /** Whether the policy of an endpoint can open the route to everyone. */
  readonly documents: boolean
}

/**
 * Returns the permissions that a handler declares, or undefined if it is not a {@link RequireRole}.
 */
export const permissionOf = (handler: unknown): Declared | undefined =>
  (handler as { [PERMISSION]?: Declared })[PERMISSION]

/**
 * Returns a {@link RequireRole}, which authenticates the request and sets `principal` and `actor`.
 *
 * Its middleware fails with `unauthenticated`, `forbidden`, `misdirected` or `too-many-requests`.
 */
export function createRequireRole(deps: RequireRoleDeps): RequireRole {
  /** Returns the last known owner of credentials that could not be looked up, or throws the error. */
  function recover(
    error: unknown,
    credentials: Credentials,
    client: Client,
    inMemory: boolean,
  ): Principal {
    const code = error instanceof Failure ? error.code : undefined
    if (code === 'unauthenticated') deps.countFailure(client)
    const principal = code === 'unavailable' && inMemory ? deps.lastKnown(credentials) : undefined
    if (principal === undefined) throw error
    return principal
  }

  return (needed, options = {}) => {
    const {
      byToken,
      anyScope,
      ownScope,
      background,
      inMemory = false,
      documents,
      readAhead,
    } = options
    const declared: Declared = {
      bySession: needed,
      byToken: byToken ?? needed,
      documents: documents === true,
    }
    if (needed === 'public') return Object.assign(allow, { [PERMISSION]: declared })
    const permit = (c: Context<AppEnv>, principal: Principal | undefined) => {
      if (needed === 'known') return
      if (documents && isPublic(c)) return
      authorize(principal, needed)
      const isAnyScope = ownScope || (anyScope && principal.by === 'session')
      if (!isAnyScope) requireScopeOf(c, principal)
      if (byToken !== undefined) authorizeToken(principal, byToken)
    }
    const authorizeAgain = async (c: Context<AppEnv>) => {
      await deps.catchUp()
      // In the background, because waiting for a body or for its reader is not user activity.
      const principal = await deps.authenticate(credentialsOf(deps, c, deps.clientOf(c), true))
      if (principal === undefined && c.get('principal') !== undefined) {
        throw notSignedIn('Your session has ended. Sign in again.')
      }
      permit(c, principal)
      checkAdmitted(c, deps.clientOf)
      requireWritable(c)
    }
    const middleware = createMiddleware<AppEnv>((c, next) => {
      const client = deps.clientOf(c)
      const credentials = credentialsOf(deps, c, client, background)
      const enter = (principal: Principal | undefined) => {
        if (principal !== undefined) {
          c.set('principal', principal)
          const { username: name, by, tokenName } = principal
          const token = tokenName ?? undefined
          c.set('actor', { name, by, address: client.address, ...(token && { token }) })
          guardBrowser(deps, c, client, credentials)
        }
        permit(c, principal)
        enforceRules(c, client.address, principal)
        c.set('authorizeAgain', authorizeAgain)
        return next()
      }
      const enterAfter = (error: unknown) => enter(recover(error, credentials, client, inMemory))
      let principal: ReturnType<typeof deps.authenticate>
      try {
        principal = deps.authenticate(credentials)
      } catch (error) {
        return enterAfter(error)
      }
      if (!(principal instanceof Promise)) return enter(principal)
      readAhead?.(c)
      return principal.then(enter, enterAfter)
    })
    return Object.assign(middleware, { [PERMISSION]: declared })
  }
}

/** Returns whether the policy of the endpoint lets everyone read the collection of a request. */
const isPublic = (c: Context<AppEnv>): boolean =>
  c.env.listener.policy?.isPublic(c.req.method, c.get('database'), pathParam(c, 'collection')) ??
  false

const allow = createMiddleware<AppEnv>((_c, next) => next())

/** Returns the credentials of a request. A session counts only without `Authorization`. */
function credentialsOf(
  { cookie }: RequireRoleDeps,
  c: Context<AppEnv>,
  { secure }: Client,
  background = false,
): Credentials {
  const authorization = c.req.header('Authorization')
  if (authorization !== undefined) return { authorization, session: undefined, background }
  const session = cookie.read(c, secure)
  return {
    authorization,
    session,
    certificate: session === undefined ? tokenOfCertificate(c) : undefined,
    background: background || requestHeader(c, BACKGROUND_HEADER) !== undefined,
  }
}

/** Returns the id of the token that the client certificate of a connection stands for. */
function tokenOfCertificate({ env: { listener, incoming } }: Context<AppEnv>): string | undefined {
  const tokens = listener.policy?.clientTokens
  if (tokens === undefined || incoming === undefined) return undefined
  const names = listener.clientNames?.(incoming.socket)
  if (names === undefined) return undefined
  return splitUnquoted(names, ',')
    .map((name) => name.trim())
    .map((name) =>
      tokens.get(name.startsWith('DNS:') ? `DNS:${name.slice(4).toLowerCase()}` : name),
    )
    .find((token) => token !== undefined)
}

/**
 * Rejects a request that another web page made a browser send: a browser adds cookies and
 * remembered Basic credentials by itself.
 */
function guardBrowser(
  deps: RequireRoleDeps,
  c: Context<AppEnv>,
  client: Client,
  { authorization, certificate }: Credentials,
): void {
  if (certificate !== undefined) {
    // A browser sends it by itself, other clients send no headers that tell their origin.
    if (!isFromBrowser(c)) return
    requireOwnHost(client.host, deps.isOwnHost, deps.publicOrigin)
    guardOrigin(c, client.host, deps.publicOrigin)
  } else if (authorization === undefined) {
    requireOwnHost(client.host, deps.isOwnHost, deps.publicOrigin)
    guardOrigin(c, client.host, deps.publicOrigin)
  } else if (isBasic(authorization) && isFromBrowser(c)) {
    requireOwnHost(client.host, deps.isOwnHost, deps.publicOrigin)
    guardBasic(c, client.host, deps.publicOrigin)
  }
}

/**
 * Checks that a principal has the role.
 *
 * @throws Failure `unauthenticated` or `forbidden`
 */
export function authorize(
  principal: Principal | undefined,
  needed: Role,
): asserts principal is Principal {
  if (principal === undefined) throw notSignedIn(`Sign in, or send a token: ${TOKEN_HEADERS}.`)
  if (!atLeast(principal.role, needed)) {
    throw new Failure(
      'forbidden',
      principal.role === 'pending'
        ? 'You have no role yet. Ask an admin to assign one.'
        : `This requires the ${needed} role. Your role is ${principal.role}.`,
    )
  }
}

/**
 * Checks that the scope of a principal includes the database of the request. With a session,
 * everything under `/_api` can be read: lists of databases leave out the others.
 *
 * @throws Failure `forbidden`
 */
function requireScopeOf(c: Context<AppEnv>, principal: Principal): void {
  if (principal.databases === null) return
  const { method, path } = c.req
  const isRead = method === 'GET' || method === 'HEAD'
  if (isRead && principal.by === 'session' && path.startsWith('/_api/')) return
  requireScope(principal, c.get('database'))
}

/**
 * Checks that the scope of a principal includes a database. A route of `_system` calls it for a
 * request that affects the documents of another database.
 *
 * @throws Failure `forbidden`
 */
export function requireScope(principal: Principal | undefined, database: string): void {
  if (principal === undefined || inScope(principal.databases, database)) return
  throw new Failure(
    'forbidden',
    principal.by === 'token'
      ? `The scope of this token does not include the database ${database}.`
      : `Your role is limited to databases that do not include ${database}.`,
  )
}

/**
 * Checks that a token has the role that the route requires of tokens.
 *
 * @throws Failure `forbidden`
 */
function authorizeToken(principal: Principal | undefined, needed: Role): void {
  if (principal?.by !== 'token' || atLeast(principal.role, needed)) return
  throw new Failure(
    'forbidden',
    `With a token, this requires the ${needed} role. This token has the ${principal.role} role. Sign in instead.`,
  )
}

const notSignedIn = (message: string) => new Failure('unauthenticated', message)

/**
 * Returns whether an `Authorization` header uses HTTP Basic (RFC 7617), as clients send it for a
 * token in the user part of a URL.
 */
const isBasic = (authorization: string) => authorization.slice(0, 6).toLowerCase() === 'basic '

/** Reads that begin before the caller is known. */
export interface ReadAhead<T> {
  /** See `readAhead` of `RouteOptions`. */
  readonly begin: (c: Context<AppEnv>) => void
  /** Returns the read that was begun for a request; undefined if none was, or in later calls. */
  readonly take: (c: Context<AppEnv>) => T | undefined
}

/**
 * Returns the read ahead of a route, which has at most one.
 *
 * @param read begins a read. If it throws, the handler has to fail with the same error, after the
 * checks of the caller.
 */
export function createReadAhead<T>(read: (c: Context<AppEnv>) => T): ReadAhead<T> {
  return {
    begin(c) {
      try {
        const reading = read(c)
        // The handler awaits it, unless the caller has no permission.
        if (reading instanceof Promise) reading.catch(() => {})
        c.set('readAhead', reading)
      } catch {}
    },
    take(c) {
      const reading = c.get('readAhead') as T | undefined
      // The context of a request lives until the response is sent.
      c.set('readAhead', undefined)
      return reading
    },
  }
}

/**
 * Returns what was read ahead of a request with a body; undefined if the body has not arrived
 * completely, because what was read could change until then.
 */
export const takeIfBodyArrived = <T>(c: Context<AppEnv>, { take }: ReadAhead<T>): T | undefined => {
  const reading = take(c)
  return c.env.incoming?.complete === true ? reading : undefined
}

/**
 * Returns the id of the caller for a job, which ends when the caller loses its role: of the token,
 * or of the person who is signed in. The route must require a role.
 */
export function callerIdOf(c: Context<AppEnv>): string {
  const { by, credential, personId } = principalOf(c)
  return by === 'token' ? `token:${credential}` : `person:${personId}`
}
