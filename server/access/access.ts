import type { Person, PersonChange } from '../contract/access/principal.ts'
import type { SessionInfo } from '../contract/access/session.ts'
import type { TokenInfo, TokenInput } from '../contract/access/token.ts'
import type { LiveEvent } from '../contract/event.ts'
import type { Caller } from '../storage/changes/begin-change.ts'
import { type Authenticator, createAuthenticator } from './authenticate.ts'
import { createLastUseRecorder, type LastUseRecorder } from './last-use-recorder.ts'
import { changeRole, listPeople } from './people.ts'
import {
  beginSession,
  endSessions,
  listSessions,
  type SessionDeps,
  type SignIn,
  type SignInOrigin,
} from './sessions.ts'
import { createToken, listTokens, revokeToken, type TokenOwner } from './tokens.ts'

/** Manages people, their sessions and their API tokens, and authenticates requests. */
export interface Access {
  readonly authenticate: Authenticator['authenticate']
  readonly lastKnown: Authenticator['lastKnown']
  /** Signs a person in and returns the secret of the new session. See `sessions.ts`. */
  signIn(signIn: SignIn, from: SignInOrigin): Promise<string>
  people(): Promise<Person[]>
  /**
   * Changes a person's role and its limit, and ends their sessions immediately. The role `none` also
   * revokes their tokens. See `people.ts`.
   */
  changeRole(id: string, change: PersonChange, actor: Caller): Promise<void>
  sessions(person: string, current: string): Promise<SessionInfo[]>
  /** Ends one session of a person immediately, or all of them if `session` is `all`. */
  endSession(person: string, session: string, actor: Caller): Promise<void>
  tokens(owner: string | 'everybody'): AsyncIterable<TokenInfo>
  createToken(
    owner: TokenOwner,
    input: TokenInput,
    actor: Caller,
  ): Promise<{ token: string; info: TokenInfo }>
  /** Revokes a token immediately. */
  revokeToken(owner: TokenOwner, id: string, actor: Caller): Promise<void>
  /** Clears cached principals after another process has changed the store. */
  sync(): void
  /** Writes the recorded uses one last time and stops recording. */
  readonly stop: LastUseRecorder['stop']
}

export interface AccessDeps extends SessionDeps {
  /** Returns the time of a monotonic clock, ms. */
  readonly steady?: () => number
  /**
   * Called when sessions, tokens or roles may have ended; open streams must check their access
   * again.
   */
  readonly onEnded?: () => void
  /** Called with each change once it is durable. */
  readonly publish?: (event: LiveEvent) => void
  /** Called when the uses of sessions and tokens cannot be stored. */
  readonly onError?: (error: unknown) => void
}

/**
 * Creates the {@link Access} of a store. Each change clears the authentication cache before it
 * resolves.
 */
export function createAccess(deps: AccessDeps): Access {
  const { store, record, admins, now, steady } = deps
  const uses = createLastUseRecorder(store, deps.onError ?? (() => {}))
  const { operatorKey } = deps
  const authenticator = createAuthenticator({ store, now, uses, steady, operatorKey })
  const clearingCache = async <T>(change: Promise<T>): Promise<T> => {
    try {
      return await change
    } finally {
      authenticator.clearCache()
    }
  }
  const endingAccess = async <T>(change: Promise<T>): Promise<T> => {
    const result = await clearingCache(change)
    deps.onEnded?.()
    return result
  }
  const publish = deps.publish ?? (() => {})
  return {
    authenticate: authenticator.authenticate,
    lastKnown: authenticator.lastKnown,
    async signIn(signIn, from) {
      const { person, secret, roleChanged } = await clearingCache(beginSession(deps, signIn, from))
      if (roleChanged) deps.onEnded?.()
      publish({ type: 'person', id: person })
      publish({ type: 'audit' })
      return secret
    },
    people: () => listPeople(store, now()),
    async changeRole(id, change, actor) {
      await endingAccess(changeRole(store, record, id, change, { admins, actor, operatorKey }))
      publish({ type: 'person', id })
      if (change.role === 'none') publish({ type: 'token', owner: id })
    },
    sessions: (person, current) => listSessions(store, person, now(), current),
    async endSession(person, session, actor) {
      await endingAccess(endSessions(deps, person, session, actor))
      publish({ type: 'person', id: person })
    },
    tokens: (owner) => listTokens(store, uses, owner),
    async createToken(owner, input, actor) {
      const token = await createToken(deps, owner, input, actor)
      publish({ type: 'token', owner: owner.personId })
      return token
    },
    async revokeToken(owner, id, actor) {
      publish({ type: 'token', owner: await endingAccess(revokeToken(deps, owner, id, actor)) })
    },
    sync() {
      authenticator.clearCache()
      deps.onEnded?.()
      // The changed rows are unknown, so announce all of them.
      publish({ type: 'person', id: null })
      publish({ type: 'token', owner: null })
      publish({ type: 'audit' })
    },
    stop: uses.stop,
  }
}
