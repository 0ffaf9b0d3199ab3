import type { Cookie } from '@playwright/test'
import { ROLES, type Role } from '../../server/contract/role.ts'
import type { PlainProvider } from '../../server/oauth2/plain-provider.testing.ts'
import { expect, test as journey } from './gatehouse.ts'
import { listen } from './listen.ts'
import { type Gatehouse, openGatehouse } from './open-gatehouse.ts'
import { openPeopleProvider, signInAs } from './people.ts'

/**
 * A Gatehouse in which there is something of everything, and somebody of every role. Tests share it:
 * they look, and change nothing that others look at.
 */
export interface Town {
  readonly gatehouse: Gatehouse
  /** The endpoint through which one comes, which reaches every database. */
  readonly own: string
  /** An endpoint with five databases, some of which do not exist. */
  readonly mapped: string
  /** An endpoint whose port another program holds. */
  readonly failed: string
  /** The session of somebody of each role. */
  readonly sessions: Readonly<Record<Role, Cookie>>
  /** The ids of two of the same people. */
  readonly ids: Readonly<Record<'viewer' | 'admin', string>>
  /** The id of a token of the admin. */
  readonly token: string
}

const API = '/_db/_system/_api'
const names = { pending: 'paul', viewer: 'vera', operator: 'otto', admin: 'ada' } as const

async function openTown(worker: number): Promise<Town & { close(): Promise<void> }> {
  const { provider, env } = await openPeopleProvider()
  const gatehouse = await openGatehouse({ worker, env })
  const port = await gatehouse.freePort()
  const failed = `tcp://127.0.0.1:${port}`
  let other: Awaited<ReturnType<typeof listen>> | undefined
  const close = async () => {
    provider.close()
    await other?.close()
    await gatehouse.close()
  }
  try {
    const mapped = await fill(gatehouse, failed)
    await gatehouse.stop()
    other = await listen(port)
    await gatehouse.restart()
    return { ...(await populate(gatehouse, provider)), gatehouse, mapped, failed, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Makes databases, documents, a schema and endpoints; answers the address of the one that is mapped. */
async function fill(gatehouse: Gatehouse, failed: string): Promise<string> {
  const mapped = `tcp://127.0.0.1:${await gatehouse.freePort()}`
  for (const name of ['blog', 'shop']) await gatehouse.post(`${API}/database`, { name })
  await gatehouse.put('/_db/blog/_schema/articles', {
    properties: { title: { type: 'string' } },
  })
  await gatehouse.post('/_db/blog/articles', [
    { id: 'one', title: 'One', author: 'ada' },
    { id: 'two', title: 'Two', tags: ['a', 'b'] },
  ])
  for (const [endpoint, databases] of [
    [mapped, ['blog', 'shop', 'archive', 'news', 'wiki']],
    [failed, []],
  ] as const) {
    await gatehouse.post(`${API}/endpoint`, { endpoint, databases })
  }
  return mapped
}

/** Signs in somebody of each role, and makes a token. */
async function populate(gatehouse: Gatehouse, provider: PlainProvider) {
  const sessions: Partial<Record<Role, Cookie>> = {}
  for (const role of ROLES) {
    sessions[role] = await signInAs(gatehouse, provider, names[role], role)
  }
  const people = (await gatehouse.get(`${API}/user`)).body as { id: string; username: string }[]
  const idOf = (role: Role) =>
    people.find(({ username }) => username === `oauth2:${names[role]}`)?.id ?? ''
  const made = await gatehouse.post(`${API}/token`, { name: 'nightly backup', role: 'viewer' })
  return {
    own: `tcp://127.0.0.1:${gatehouse.port}`,
    sessions: sessions as Record<Role, Cookie>,
    ids: { viewer: idOf('viewer'), admin: idOf('admin') },
    token: (made.body as { info: { id: string } }).info.id,
  }
}

/** Playwright's `test` with a {@link Town} for all tests of a worker, in which somebody is signed in. */
export const test = journey.extend<{ role: Role | 'nobody' }, { town: Town }>({
  town: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads what a fixture needs from it
    async ({}, use, { parallelIndex }) => {
      const town = await openTown(parallelIndex)
      await use(town)
      await town.close()
    },
    { scope: 'worker', timeout: 60_000 },
  ],
  /** As whom one is signed in. */
  role: ['admin', { option: true }],
  baseURL: async ({ town }, use) => {
    await use(town.gatehouse.url)
  },
  storageState: async ({ town, role }, use) => {
    await use({ cookies: role === 'nobody' ? [] : [town.sessions[role]], origins: [] })
  },
})

export { expect }
