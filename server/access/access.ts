import type { Actor } from '../contract/audit.ts'
import type { LiveEvent } from '../contract/event.ts'
import type { Person } from '../contract/person.ts'
import type { Role } from '../contract/role.ts'
import type { SessionInfo } from '../contract/session.ts'
import type { TokenInfo, TokenInput } from '../contract/token.ts'
import type { Store } from '../storage/open.ts'
import type { Recorder } from '../storage/recorder.ts'
import type { Vault } from '../storage/vault.ts'
import { type Authenticator, createAuthenticator } from './authenticate.ts'
import { changeRole, listPeople } from './people.ts'
import { beginSession, endSessions, type From, listSessions, type SignIn } from './sessions.ts'
import { createToken, listTokens, revokeToken, type TokenOwner } from './tokens.ts'
import { createUseRecorder, type UseRecorder } from './use-recorder.ts'

/** People, their sessions and their tokens, and who a request comes from. */
export interface Access {
  readonly authenticate: Authenticator['authenticate']
  readonly recall: Authenticator['recall']
  readonly lastKnown: Authenticator['lastKnown']
  /** Signs somebody in and answers the secret of the new session (`sessions.ts`). */
  signIn(signIn: SignIn, from: From): Promise<string>
  people(): Promise<Person[]>
  /** See `people.ts`; the person's sessions end at once. */
  changeRole(id: string, role: Role, actor: Actor): Promise<void>
  sessions(person: string, current: string): Promise<SessionInfo[]>
  /** Ends one session of a person, or `all`, at once. */
  endSession(person: string, session: string, actor: Actor): Promise<void>
  tokens(owner: string | 'everybody'): Promise<TokenInfo[]>
  createToken(
    owner: TokenOwner,
    input: TokenInput,
    actor: Actor,
  ): Promise<{ token: string; info: TokenInfo }>
  /** Revokes a token, at once. */
  revokeToken(owner: TokenOwner, id: string, actor: Actor): Promise<void>
  /** Follows what another process has changed in the store. */
  sync(): void
  /** Stores the uses of sessions and tokens that are noted, at once instead of a second later. */
  readonly flushUses: UseRecorder['flush']
  /** Stores them a last time. */
  readonly stop: UseRecorder['stop']
}

/** What {@link Access} is made of. */
export interface AccessDeps {
  readonly store: Store
  readonly vault: Vault
  readonly record: Recorder
  /** Usernames that are always admins. */
  readonly admins: readonly string[]
  /** The time, ms since 1970. */
  readonly now: () => number
  /** The fingerprint of the operator key as it is now; missing: it is never renewed. */
  readonly operatorKey?: () => string
  /** Told when sessions, tokens or roles may have ended: streams that go by them are to look. */
  readonly onEnded?: () => void
  /** Told what has changed, once that is durable. */
  readonly publish?: (event: LiveEvent) => void
  /** Told when the uses of sessions and tokens cannot be stored. */
  readonly onError?: (error: unknown) => void
}

/** Makes {@link Access}: whatever changes is forgotten by the authenticator before it is answered. */
export function createAccess(deps: AccessDeps): Access {
  const { store, record, admins, now } = deps
  const uses = createUseRecorder(store, deps.onError ?? (() => {}))
  const authenticator = createAuthenticator(store, now, uses)
  const forgetting = async <T>(change: Promise<T>): Promise<T> => {
    try {
      return await change
    } finally {
      authenticator.forget()
    }
  }
  const ending = async <T>(change: Promise<T>): Promise<T> => {
    const result = await forgetting(change)
    deps.onEnded?.()
    return result
  }
  const publish = deps.publish ?? (() => {})
  return {
    authenticate: authenticator.authenticate,
    recall: authenticator.recall,
    lastKnown: authenticator.lastKnown,
    async signIn(signIn, from) {
      const { person, secret } = await forgetting(beginSession(deps, signIn, from))
      publish({ type: 'person', id: person })
      publish({ type: 'audit' })
      return secret
    },
    people: () => listPeople(store, now()),
    async changeRole(id, role, actor) {
      await ending(changeRole(store, record, id, role, { admins, actor }))
      publish({ type: 'person', id })
    },
    sessions: (person, current) => listSessions(store, person, now(), current),
    async endSession(person, session, actor) {
      await ending(endSessions(deps, person, session, actor))
      publish({ type: 'person', id: person })
    },
    tokens: (owner) => listTokens(store, owner),
    async createToken(owner, input, actor) {
      const made = await createToken(deps, owner, input, actor)
      publish({ type: 'token', owner: owner.personId })
      return made
    },
    async revokeToken(owner, id, actor) {
      publish({ type: 'token', owner: await ending(revokeToken(deps, owner, id, actor)) })
    },
    sync() {
      authenticator.forget()
      deps.onEnded?.()
      // Whatever it was.
      publish({ type: 'person', id: null })
      publish({ type: 'token', owner: null })
      publish({ type: 'audit' })
    },
    flushUses: uses.flush,
    stop: uses.stop,
  }
}
