import type { Cookie } from '@playwright/test'
import type { PlainProvider } from '../../server/oauth2/providers/plain-provider.testing.ts'
import { openPeopleProvider, signInAs } from './people.ts'
import { listen } from './server/listen.ts'
import { type Gatehouse, openGatehouse } from './server/open-gatehouse.ts'

/**
 * A Gatehouse with data of every kind and a person of every role. Tests share it, so they must not
 * change what others read.
 */
export interface SampleData {
  readonly gatehouse: Gatehouse
  /** The endpoint of the page, which serves all databases. */
  readonly own: string
  /** An endpoint with five databases, some of which do not exist. */
  readonly mapped: string
  /** An endpoint whose port another program uses. */
  readonly failed: string
  /** An `ssl` endpoint with the certificate `web`. */
  readonly encrypted: string
  /** A session for each role. */
  readonly sessions: Readonly<Record<SampleRole, Cookie>>
  /** The ids of two of these people. */
  readonly ids: Readonly<Record<'viewer' | 'admin', string>>
  /** The id of a token of the admin. */
  readonly token: string
}

const API = '/_db/_system/_api'
export type SampleRole = keyof typeof names

const names = { pending: 'paul', viewer: 'vera', operator: 'otto', admin: 'ada' } as const

/** Starts a Gatehouse with sample data. `close` stops it. */
export async function openSampleData(
  worker: number,
): Promise<SampleData & { close(): Promise<void> }> {
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
    const { mapped, encrypted } = await fill(gatehouse, failed)
    await gatehouse.stop()
    other = await listen(port)
    await gatehouse.restart()
    return { ...(await populate(gatehouse, provider)), gatehouse, mapped, encrypted, failed, close }
  } catch (error) {
    await close()
    throw error
  }
}

/**
 * Creates databases, documents, a schema, a feed, a webhook, certificates and endpoints; returns the addresses of two of
 * them.
 */
async function fill(gatehouse: Gatehouse, failed: string) {
  const mapped = `tcp://127.0.0.1:${await gatehouse.freePort()}`
  const encrypted = `ssl://127.0.0.1:${await gatehouse.freePort()}`
  for (const name of ['web', 'unused']) {
    const names = ['localhost', '127.0.0.1', `${name}.example.org`]
    await gatehouse.post(`${API}/certificate`, { name, kind: 'local', names })
  }
  for (const name of ['blog', 'shop']) await gatehouse.post(`${API}/database`, { name })
  await gatehouse.put('/_db/blog/_schema/articles', {
    properties: { title: { type: 'string' } },
  })
  await gatehouse.post('/_db/blog/articles', [
    { id: 'one', title: 'One', author: 'ada' },
    { id: 'two', title: 'Two', tags: ['a', 'b'] },
  ])
  await gatehouse.put('/_db/blog/_index/articles/by-title', { fields: ['title'] })
  await gatehouse.put('/_db/shop/_feed/orders', {})
  await gatehouse.post(`${API}/webhook`, {
    ...{ name: 'search', url: 'https://hook.example.org/' },
    ...{ database: 'shop', collections: ['orders'] },
  })
  for (const [endpoint, databases] of [
    [mapped, ['blog', 'shop', 'archive', 'news', 'wiki']],
    [failed, []],
  ] as const) {
    await gatehouse.post(`${API}/endpoint`, { endpoint, databases })
  }
  const policy = { tls: { certificates: ['web'] } }
  const change = { endpoint: encrypted, databases: ['shop'], policy, expect: null }
  await gatehouse.post(`${API}/endpoint-change`, { changes: [change] })
  return { mapped, encrypted }
}

/** Signs in a person of each role, and creates a token. */
async function populate(gatehouse: Gatehouse, provider: PlainProvider) {
  const sessions: Partial<Record<SampleRole, Cookie>> = {}
  for (const role of Object.keys(names) as SampleRole[]) {
    sessions[role] = await signInAs(gatehouse, provider, names[role], role)
  }
  const people = (await gatehouse.get(`${API}/user`)).body as { id: string; username: string }[]
  const idOf = (role: SampleRole) =>
    people.find(({ username }) => username === `oauth2:${names[role]}`)?.id ?? ''
  const made = await gatehouse.post(`${API}/token`, { name: 'nightly backup', role: 'viewer' })
  return {
    own: `tcp://127.0.0.1:${gatehouse.port}`,
    sessions: sessions as Record<SampleRole, Cookie>,
    ids: { viewer: idOf('viewer'), admin: idOf('admin') },
    token: (made.body as { info: { id: string } }).info.id,
  }
}
