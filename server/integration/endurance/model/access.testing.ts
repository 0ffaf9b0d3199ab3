import { expect } from 'vitest'
import { atLeast, lowerRole, ROLES, type Role } from '../../../contract/access/role.ts'
import { openStore, type StoreLocation } from '../../../storage/open.ts'
import { pick, type Random } from '../settings.testing.ts'
import { storePerson, storeSession } from '../stored-people.testing.ts'
import {
  type Call,
  type Headers,
  type Model,
  NAMES,
  type Operation,
  type Token,
  without,
} from './model.testing.ts'

const OPERATOR = 'local:operator'

/** Maximum number of tokens. */
const TOKENS = 8

/** Number of revoked tokens that are sent in each check. */
const REVOKED = 3

/** People with sessions and tokens, and requests with all of these credentials. */
export interface Access {
  /** The people of the model, at the start. */
  readonly people: Model['people']
  /** Changes the role of a person, which ends their sessions; `none` revokes their tokens. */
  changeRole(model: Model, random: Random): Operation
  /** Creates a token of a person or of the operator, or revokes one. */
  changeToken(model: Model, random: Random, value: number): Operation
  /** Ends a session of a person. */
  endSession(model: Model, random: Random): Operation
  /** The audit rows of sessions that were ended, other than by the role of their owner. */
  readonly endedSessions: readonly string[]
  /** Reads people and tokens, including the ids of tokens. */
  read(): Promise<Pick<Model, 'people' | 'tokens'>>
  /**
   * Checks that the server accepts the tokens of the model, rejects revoked ones and ended sessions,
   * and has ended the sessions of people whose role has changed. These people then sign in again.
   */
  check(model: Model): Promise<void>
}

/** A session, which ends when the role of its owner changes. */
interface Session {
  readonly id: string
  readonly headers: Headers
  readonly role: Role
  /** Whether it has ended by a request. Without a response, it may have ended or not. */
  readonly isEnded: boolean | 'perhaps'
}

/** Stores a person of each name, with a session, and an admin who always remains. */
export async function createAccess(location: StoreLocation, call: Call): Promise<Access> {
  const ids = new Map<string, string>()
  const sessions = new Map<string, Session>()
  /** The ids of listed tokens by name. */
  let tokenIds = new Map<string, string>()
  const endedSessions: string[] = []
  /** The tokens of acknowledged creations, oldest first, until some time after their revocation. */
  const tokens = new Map<string, string>()

  async function signIn(roles: readonly (readonly [string, Role])[]): Promise<void> {
    const store = await openStore(location, 'tool')
    try {
      for (const [name, role] of roles) {
        const id = ids.get(name) ?? (await storePerson(store, name, role))
        ids.set(name, id)
        sessions.set(name, { role, isEnded: false, ...(await storeSession(store, id)) })
      }
    } finally {
      await store.close()
    }
  }
  const people: Record<string, Role> = Object.fromEntries(NAMES.map((name) => [name, 'operator']))
  await signIn([...Object.entries(people), ['remaining', 'admin']])

  /** Returns the role of the person or token with the credentials; null if nobody is signed in. */
  async function roleOf(headers: Headers): Promise<unknown> {
    const { status, json } = await call('GET', '/_api/session', undefined, headers)
    return status === 200 ? (json?.person.role ?? null) : status
  }

  async function checkTokens(model: Model): Promise<void> {
    for (const [name, text] of tokens) {
      const { owner, role } = model.tokens[name] ?? {}
      const seen = await roleOf({ Authorization: `Bearer ${text}` })
      if (owner === undefined || role === undefined) expect([401, 429], name).toContain(seen)
      else expect([name, seen]).toEqual([name, lowerRole(role, model.people[owner] ?? 'admin')])
    }
    const revoked = [...tokens.keys()].filter((name) => !(name in model.tokens))
    for (const name of revoked.slice(0, -REVOKED)) tokens.delete(name)
  }

  async function checkSessions(model: Model): Promise<void> {
    for (const [name, { role, headers, isEnded }] of sessions) {
      const current = model.people[name] ?? role
      const found = await roleOf(headers)
      if (isEnded === 'perhaps') expect([role, null], name).toContain(found)
      else expect([name, found]).toEqual([name, isEnded || current !== role ? null : role])
      if (isEnded !== false && found === null) endedSessions.push(`session.end github:${name}`)
      if (found === null) sessions.delete(name)
      else sessions.set(name, { ...(sessions.get(name) as Session), isEnded: false })
    }
    const signedOut = Object.entries(model.people).filter(
      ([name, role]) => role !== 'none' && !sessions.has(name),
    )
    if (signedOut.length > 0) await signIn(signedOut)
  }

  function createToken(model: Model, random: Random, value: number): Operation {
    const name = pick(random, NAMES)
    const own = model.people[name] ?? 'none'
    const headers = atLeast(own, 'viewer') ? sessions.get(name)?.headers : undefined
    const highest = headers === undefined ? 'admin' : own
    const roles = ROLES.filter((each) => atLeast(each, 'viewer') && atLeast(highest, each))
    const token: Token = {
      owner: headers === undefined ? OPERATOR : name,
      role: pick(random, roles),
    }
    const label = `t${value}`
    const after = { ...model, tokens: { ...model.tokens, [label]: token } }
    return {
      ...{ method: 'POST', path: '/_api/token', body: { name: label, role: token.role } },
      ...(headers && { headers }),
      after: [after],
      async finish({ json }) {
        tokens.set(label, json.token)
        tokenIds.set(label, json.info.id)
        await checkTokens(after)
      },
    }
  }

  const access: Access = {
    people,
    changeRole(model, random) {
      const name = pick(random, NAMES)
      const before = model.people[name]
      const role = pick(
        random,
        ROLES.filter((each) => each !== before),
      )
      const isRevoked = ({ owner }: Token) =>
        owner === name && (role === 'none' || before === 'none')
      const kept = Object.entries(model.tokens).filter(([, token]) => !isRevoked(token))
      const after: Model = {
        ...model,
        people: { ...model.people, [name]: role },
        tokens: Object.fromEntries(kept),
      }
      return {
        ...{ method: 'PATCH', path: `/_api/user/${ids.get(name)}`, body: { role } },
        after: [after],
        finish: () => access.check(after),
      }
    },
    changeToken(model, random, value) {
      const names = Object.keys(model.tokens)
      if (names.length <= random(TOKENS)) return createToken(model, random, value)
      const name = pick(random, names)
      const after = { ...model, tokens: without(model.tokens, name) }
      return {
        ...{ method: 'DELETE', path: `/_api/token/${tokenIds.get(name)}` },
        after: [after],
        finish: () => checkTokens(after),
      }
    },
    endSession(model, random) {
      // No session exists while all roles are `none`.
      if (sessions.size === 0) return access.changeRole(model, random)
      const name = pick(random, [...sessions.keys()])
      const session = sessions.get(name) as Session
      sessions.set(name, { ...session, isEnded: 'perhaps' })
      const byOwner = random(2) === 0
      return {
        method: 'DELETE',
        path: byOwner ? '/_api/session' : `/_api/user/${ids.get(name)}/session/${session.id}`,
        ...(byOwner && { headers: session.headers }),
        after: [model],
        async finish() {
          sessions.set(name, { ...session, isEnded: true })
          await checkSessions(model)
        },
      }
    },
    endedSessions,
    async read() {
      const users: { username: string; role: Role }[] = (await call('GET', '/_api/user')).json
      const roles = users.flatMap(({ username, role }) => {
        const name = NAMES.find((each) => username === `github:${each}`)
        return name === undefined ? [] : [[name, role] as const]
      })
      const list: { id: string; name: string; owner: string; role: Role }[] = (
        await call('GET', '/_api/token?everybody=true')
      ).json
      const listed = list.filter(({ name }) => /^t[0-9]+$/.test(name))
      tokenIds = new Map(listed.map(({ name, id }) => [name, id]))
      const entries = listed.map(({ name, owner, role }) => {
        return [name, { owner: owner.replace('github:', ''), role }] as const
      })
      return { people: Object.fromEntries(roles), tokens: Object.fromEntries(entries) }
    },
    async check(model) {
      await checkTokens(model)
      await checkSessions(model)
    },
  }
  return access
}
