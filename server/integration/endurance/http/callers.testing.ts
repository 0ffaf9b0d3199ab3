import { randomUUID } from 'node:crypto'
import { createSessionSecret, hashSecret } from '../../../access/secrets/secret-text.ts'
import { ROLES, type Role } from '../../../contract/access/role.ts'
import { instanceId } from '../../../storage/changes/instance-id.ts'
import type { Store } from '../../../storage/store.ts'
import type { EngineNode } from '../../../test-support/each-engine-node.testing.ts'
import { CONSOLE_HEADERS } from '../../../test-support/operator-session.testing.ts'

/** The sender of generated requests. */
export interface Caller {
  readonly name: string
  readonly by: 'nobody' | 'invalid token' | 'session' | 'token'
  readonly role: Role
  /** The databases to which a token is limited; null for all. */
  readonly databases: readonly string[] | null
  /** The headers with its credentials. */
  readonly headers: Readonly<Record<string, string>>
}

/** The callers of a test. Their credentials can be replaced after one has been revoked. */
export interface Callers {
  readonly all: readonly Caller[]
  /** Ids of people, sessions and tokens, for paths. */
  readonly ids: Readonly<Record<'person' | 'session' | 'token', readonly string[]>>
  /** Gives every person their role, and every caller valid credentials. */
  renew(): Promise<void>
}

/** Scopes of tokens. */
const SCOPES = [null, ['_system'], ['blog'], ['nowhere']]

const TOKEN_ROLES = ['viewer', 'operator', 'admin'] as const

/** Creates a caller of each kind: without credentials, a session of each role, and tokens. */
export async function createCallers(node: EngineNode): Promise<Callers> {
  const store = await node.openStore()
  try {
    return await prepare(node, store, await instanceId(store))
  } finally {
    await store.close()
  }
}

async function prepare(node: EngineNode, store: Store, instance: string): Promise<Callers> {
  const people = new Map<Role, string>()
  for (const role of ROLES) {
    const id = randomUUID()
    people.set(role, id)
    const subject = { provider: 'github', issuer: 'https://github.test', subject: role }
    await store.db
      .insertInto('people')
      .values({ id, ...subject, username: `github:${role}`, role, created_at: Date.now() })
      .execute()
  }
  let all: Caller[] = []
  const ids = { person: ['me', ...people.values()], session: ['all'], token: [] as string[] }

  async function addSession(opened: Store, role: Role, personId: string): Promise<Caller> {
    const secret = createSessionSecret()
    const id = randomUUID()
    const now = Date.now()
    const times = { created_at: now, last_seen_at: now, expires_at: now + 3_600_000 }
    await opened.db
      .insertInto('sessions')
      .values({ id, hash: hashSecret(secret), person_id: personId, ...times })
      .execute()
    ids.session.push(id)
    const headers = { Cookie: `gatehouse_${instance}=${secret}`, ...CONSOLE_HEADERS }
    return { name: `session of ${role}`, by: 'session', role, databases: null, headers }
  }

  async function addToken(
    role: Role,
    databases: string[] | null,
    toBasic: boolean,
  ): Promise<Caller> {
    const name = `${role} of ${databases ?? 'all'}`
    const { json, status, text } = await node.request('POST', '/_api/token', {
      name,
      role,
      databases,
    })
    if (status !== 201) throw new Error(text)
    ids.token.push(json.info.id)
    const Authorization = toBasic
      ? `Basic ${Buffer.from(`${json.token}:`).toString('base64')}`
      : `Bearer ${json.token}`
    return { name: `token ${name}`, by: 'token', role, databases, headers: { Authorization } }
  }

  async function renew(): Promise<void> {
    for (const [role, id] of people) {
      const { status, text } = await node.request('PATCH', `/_api/user/${id}`, { role })
      if (status !== 200) throw new Error(text)
    }
    for (const id of ids.token) await node.request('DELETE', `/_api/token/${id}`)
    ids.session.splice(1)
    ids.token.splice(0)
    const opened = await node.openStore()
    try {
      all = [
        { name: 'nobody', by: 'nobody', role: 'none', databases: null, headers: {} },
        {
          ...{ name: 'invalid token', by: 'invalid token', role: 'none', databases: null },
          headers: { Authorization: 'Bearer gh_none' },
        },
      ]
      for (const [role, id] of people) all.push(await addSession(opened, role, id))
    } finally {
      await opened.close()
    }
    for (const role of TOKEN_ROLES) {
      for (const [at, databases] of SCOPES.entries()) {
        all.push(await addToken(role, databases, at === 0 && role === 'viewer'))
      }
    }
  }

  await renew()
  return {
    get all() {
      return all
    },
    ids,
    renew,
  }
}
