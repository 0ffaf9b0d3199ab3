import { Failure } from '../failure.ts'
import type { ErrorLog } from '../health/error-log.ts'
import type { RequestView } from '../http/env.ts'
import { createRequireRole } from '../http/guards/require-role.ts'
import type { HttpModule } from '../http/module.ts'
import { failureKey } from '../storage/changes/failure-limit.ts'
import { type AccessDeps, createAccess } from './access.ts'
import { createInvitations } from './invitations.ts'
import { sessionRoutes, tokenRoutes, userRoutes } from './routes.ts'
import type { SignIn } from './sessions.ts'

export interface AccessModuleDeps
  extends Pick<
    AccessDeps,
    'store' | 'vault' | 'record' | 'admins' | 'operatorKey' | 'publish' | 'onEnded'
  > {
  readonly http: Pick<
    HttpModule,
    'clientOf' | 'cookie' | 'hosts' | 'publicOrigin' | 'responses' | 'sendList'
  >
  /** Counts a failed attempt; see `storage/changes/failure-limit.ts`. */
  readonly countFailure: (key: string) => void
  /** Syncs changes made by another process; undefined if there are none. */
  readonly catchUp: () => Promise<void> | undefined
  readonly logError: ErrorLog
}

/** Creates the access of people, with the guard of all routes and its own routes. */
export function createAccessModule(deps: AccessModuleDeps) {
  const { http } = deps
  const { clientOf, cookie } = http
  const access = createAccess({
    ...deps,
    now: Date.now,
    onError: deps.logError('cannot store the last use of sessions and tokens'),
  })
  const requireRole = createRequireRole({
    authenticate: access.authenticate,
    lastKnown: access.lastKnown,
    countFailure: ({ address }) => deps.countFailure(failureKey('token', address)),
    catchUp: deps.catchUp,
    clientOf,
    cookie,
    isOwnHost: http.hosts.has,
    publicOrigin: http.publicOrigin,
  })
  const authenticateSession = async (c: RequestView) =>
    access.authenticate({
      authorization: undefined,
      session: cookie.read(c, clientOf(c).secure),
      background: true,
    })
  const routesDeps = { access, requireRole, clientOf, cookie, sendList: http.sendList }
  return {
    ...access,
    requireRole,
    /** Returns the owner of a token. Fails with `unauthenticated`. */
    ownerOf: async (token: string) =>
      access.authenticate({ authorization: `Bearer ${token}`, session: undefined }),
    sessionRoutes: sessionRoutes(routesDeps),
    userRoutes: userRoutes(routesDeps),
    tokenRoutes: tokenRoutes(routesDeps),

    /** Begins a session of the person that a provider identified. Returns the `Set-Cookie`. */
    async beginSession(c: RequestView, signIn: SignIn): Promise<string> {
      const { address, secure } = clientOf(c)
      const userAgent = c.req.header('User-Agent') ?? null
      const before = await authenticateSession(c)
      const secret = await access.signIn(signIn, { address, userAgent })
      // The new cookie overwrites the previous session's cookie, so end that session.
      if (before !== undefined) {
        const actor = { name: before.username, by: 'session', address } as const
        await access.endSession(before.personId, before.credential, actor).catch(unlessEnded)
      }
      return cookie.set(secret, secure)
    },
    /** Returns the person of the valid session of a request. */
    sessionPerson: authenticateSession,
    invitations: createInvitations({ store: deps.store, record: deps.record, now: Date.now }),

    [Symbol.asyncDispose]: access.stop,
  }
}

export type AccessModule = ReturnType<typeof createAccessModule>

/** Ignores `not-found`: another request ended the session first. */
function unlessEnded(error: unknown): void {
  if (!(error instanceof Failure && error.code === 'not-found')) throw error
}
