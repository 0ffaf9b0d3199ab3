import { ROLES, type Role } from '../../../contract/access/principal.ts'
import type { Store } from '../../../storage/store.ts'
import type { EngineNode } from '../../../test-support/each-engine-node.testing.ts'
import { storePerson, storeSession } from '../stored-people.testing.ts'

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

const TOKEN_ROLES = ['viewer', 'editor', 'operator', 'admin'] as const

/** Creates a caller of each kind: without credentials, a session of each role, and tokens. */
export async function createCallers(node: EngineNode): Promise<Callers> {
  const store = await node.openStore()
  try {
    return await prepare(node, store)
  } finally {
    await store.close()
  }
}

async function prepare(node: EngineNode, store: Store): Promise<Callers> {
  const people = new Map<Role, string>()
  for (const role of ROLES) people.set(role, await storePerson(store, role, role))
  let all: Caller[] = []
  const ids = { person: ['me', ...people.values()], session: ['all'], token: [] as string[] }

  async function addSession(opened: Store, role: Role, personId: string): Promise<Caller> {
    const { id, headers } = await storeSession(opened, personId)
    ids.session.push(id)
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
          name: 'invalid token',
          by: 'invalid token',
          role: 'none',
          databases: null,
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
