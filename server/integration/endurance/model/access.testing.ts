import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { atLeast, lowerRole, ROLES, type Role } from '../../../contract/access/principal.ts'
import type { TokenInfo } from '../../../contract/access/token.ts'
import { createBrowser } from '../../../oauth2/sign-in/browser.testing.ts'
import { openStore, type StoreLocation } from '../../../storage/open.ts'
import { signInWithKey } from '../../../test-support/operator-session.testing.ts'
import { SECRETS } from '../../../test-support/server-process.testing.ts'
import { pick, type Random } from '../settings.testing.ts'
import { storePerson, storeSession } from '../stored-people.testing.ts'
import {
  type Call,
  type CommandOperation,
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

/** Minimum lifetime of a token that expires, longer than its creation on a busy machine, ms. */
const LIFETIME = 5_000

/** People with sessions and tokens, and requests with all of these credentials. */
export interface Access {
  /** The people of the model, at the start. */
  readonly people: Model['people']
  /** Changes the role of a person, which ends their sessions; `none` revokes their tokens. */
  changeRole(model: Model, random: Random): Operation | CommandOperation
  /** Creates a token of a person or of the operator, or revokes one. */
  changeToken(model: Model, random: Random, value: number): Operation | CommandOperation
  /** Ends a session of a person. */
  endSession(model: Model, random: Random): Operation | CommandOperation
  /** Renews the operator key by a command, unless it is in the environment of the nodes. */
  renewOperatorKey(model: Model): CommandOperation
  /** The audit rows of sessions that were ended, other than by the role of their owner. */
  readonly endedSessions: readonly string[]
  /** Reads people and tokens, including the ids of tokens. */
  read(): Promise<Pick<Model, 'people' | 'tokens'>>
  /**
   * Checks that the server accepts the tokens of the model, rejects revoked and expired ones and
   * ended sessions, and has ended the sessions of people whose role has changed, and of an earlier
   * operator key. These people then sign in again.
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

/**
 * Stores a person of each name, with a session, and an admin who always remains.
 *
 * @param port of a node, for sign-ins with the operator key.
 */
export async function createAccess(
  location: StoreLocation,
  port: number,
  call: Call,
): Promise<Access> {
  const ids = new Map<string, string>()
  const sessions = new Map<string, Session>()
  /** The ids of listed tokens by name. */
  let tokenIds = new Map<string, string>()
  const endedSessions: string[] = []
  /** The tokens of acknowledged creations, oldest first, until some time after their revocation. */
  const tokens = new Map<string, string>()
  /** The session of the operator, and the key of its sign-in. */
  let operator: { readonly key: string; readonly headers: Headers } | undefined
  const readKey = () =>
    'data' in location
      ? readFileSync(join(location.data, 'operator.key'), 'utf8').trim()
      : SECRETS.GATEHOUSE_OPERATOR_KEY

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
      const token = model.tokens[name]
      const before = Date.now()
      const found = await roleOf({ Authorization: `Bearer ${text}` })
      const rejected = [401, 429]
      const accepted = token && [lowerRole(token.role, model.people[token.owner] ?? 'admin')]
      const expires = token?.expires ?? Number.POSITIVE_INFINITY
      if (accepted === undefined || expires < before) expect(rejected, name).toContain(found)
      else if (expires > Date.now()) expect(accepted, name).toContain(found)
      else expect([...rejected, ...accepted], name).toContain(found)
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

  /** Checks the session of the operator, who signs in again after the renewal of the key. */
  async function checkOperator(): Promise<void> {
    const key = readKey()
    if (operator !== undefined) {
      expect(await roleOf(operator.headers)).toBe(operator.key === key ? 'admin' : null)
    }
    if (operator?.key === key) return
    operator = { key, headers: { Cookie: await signInWithKey(port, key) } }
  }

  /** Creates a token of the operator by a command. */
  function createTokenByCommand(model: Model, random: Random, value: number): CommandOperation {
    const role = pick(random, ['viewer', 'operator', 'admin'] as const)
    const label = `t${value}`
    const token: Token = { owner: OPERATOR, role, expires: null }
    const after = { ...model, tokens: { ...model.tokens, [label]: token } }
    return {
      command: ['token', 'create', '--name', label, '--role', role],
      after: [after],
      async finish({ text }) {
        tokens.set(label, text.trim())
        // Finds the id of the token.
        await access.read()
        await checkTokens(after)
      },
    }
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
      expires: random(3) === 0 ? Date.now() + LIFETIME + random(30_000) : null,
    }
    const expires = token.expires && new Date(token.expires).toISOString()
    const label = `t${value}`
    const after = { ...model, tokens: { ...model.tokens, [label]: token } }
    return {
      method: 'POST',
      path: '/_api/token',
      body: { name: label, role: token.role, expires },
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
      const change = { after: [after], finish: () => access.check(after) }
      if (random(3) === 0) return { ...change, command: ['user', 'role', `github:${name}`, role] }
      return { ...change, method: 'PATCH', path: `/_api/user/${ids.get(name)}`, body: { role } }
    },
    changeToken(model, random, value) {
      const names = Object.keys(model.tokens)
      if (names.length <= random(TOKENS)) {
        const create = random(4) === 0 ? createTokenByCommand : createToken
        return create(model, random, value)
      }
      const name = pick(random, names)
      const after = { ...model, tokens: without(model.tokens, name) }
      return {
        method: 'DELETE',
        path: `/_api/token/${tokenIds.get(name)}`,
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
    renewOperatorKey(model) {
      const before = readKey()
      const command = ['operator-key', '--renew']
      if (!('data' in location)) {
        const finish = async ({ text }: { readonly text: string }) =>
          expect(text).toContain('The operator key is set by GATEHOUSE_OPERATOR_KEY')
        return { command, status: 409, after: [model], finish }
      }
      return {
        command,
        after: [model],
        async finish({ text }) {
          expect(text).toBe(`${readKey()}\n`)
          expect(readKey()).not.toBe(before)
          await checkOperator()
          const browser = createBrowser()
          const page = await browser.post(`http://127.0.0.1:${port}/_oauth2/local/auth`, {})
          expect([403, 429]).toContain((await browser.post(page.url, { key: before })).status)
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
      const list: TokenInfo[] = (await call('GET', '/_api/token?everybody=true')).json
      const listed = list.filter(({ name }) => /^t[0-9]+$/.test(name))
      tokenIds = new Map(listed.map(({ name, id }) => [name, id]))
      const entries = listed.map(({ name, owner, role, expires }) => {
        const token = { role, expires: expires === null ? null : Date.parse(expires) }
        return [name, { owner: owner.replace('github:', ''), ...token }] as const
      })
      return { people: Object.fromEntries(roles), tokens: Object.fromEntries(entries) }
    },
    async check(model) {
      await checkTokens(model)
      await checkSessions(model)
      await checkOperator()
    },
  }
  return access
}
