import { once } from 'node:events'
import { createServer } from 'node:net'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Role } from '../contract/access/principal.ts'
import type { AttentionItem } from '../contract/overview.ts'
import { freePorts } from '../endpoints/listeners/free-ports.testing.ts'
import { Traffic } from '../endpoints/traffic.ts'
import type { Store } from '../storage/store.ts'
import { forEachEngine, makeDatabase } from '../storage/test-support/each-engine.testing.ts'
import { openApp } from '../test-support/app.testing.ts'
import { createTrafficMinutes } from './traffic-minutes.ts'

const MINUTE = 60_000
const START = 1_800_000_000_000

forEachEngine((engine) => {
  let store: Store
  let now: number
  beforeEach(async () => {
    store = await engine.open()
    now = START
  })

  /** A node with one listener for each name. */
  function makeNode(node: string, names: readonly string[]) {
    const listeners = names.map((name) => ({
      name,
      state: 'listening' as const,
      traffic: new Traffic(),
    }))
    const minutes = createTrafficMinutes({
      store,
      node,
      now: () => now,
      listeners: () => listeners,
    })
    const count = (name: string, ...statuses: number[]) => {
      const { traffic } = listeners.find((each) => each.name === name) ?? { traffic: undefined }
      for (const status of statuses) traffic?.count(status, 3, now)
    }
    return { ...minutes, count }
  }
  const figures = ({ steps }: Awaited<ReturnType<ReturnType<typeof makeNode>['read']>>) =>
    steps.map((step) => step && [step.requests, step.rejected, step.failed])

  it('adds up what all nodes have counted, also after a restart', async () => {
    const [a, b] = [makeNode('a', ['x', 'y']), makeNode('b', ['x'])]
    a.count('x', 200, 403, 500)
    a.count('y', 200)
    b.count('x', 200, 429)
    now += MINUTE
    await Promise.all([a.storeMinute(), b.storeMinute()])
    now += MINUTE
    b.count('x', 200)
    await b.storeMinute()
    now += 10_000

    const restarted = makeNode('a', [])
    const total = await restarted.read(undefined, '1h')
    expect(figures(total).slice(-3)).toEqual([null, [6, 2, 1], [1, 0, 0]])
    expect(total.until).toBe(START + 2 * MINUTE)
    expect(total.steps.at(-2)).toMatchObject({ open: 2 })
    expect(total.steps.at(-2)?.durations).toEqual([0, 0, 0, 6, ...new Array(11).fill(0)])
    expect(figures(await restarted.read(['x'], '1h')).slice(-3)).toEqual([
      null,
      [5, 2, 1],
      [1, 0, 0],
    ])
    expect(await restarted.readEach(['x', 'y', 'z'], '24h')).toMatchObject({
      endpoints: [
        { endpoint: 'x', requests: 6, rejected: 2, failed: 1 },
        { endpoint: 'y', requests: 1, rejected: 0, failed: 0 },
      ],
    })
    const day = await restarted.read(['x', 'y'], '24h')
    expect(figures(day).at(-1)).toEqual([7, 2, 1])
  })

  it('stores the 100 busiest endpoints, and deletes samples after 24 hours', async () => {
    const names = Array.from({ length: 103 }, (_, at) => `e${at}`)
    const node = makeNode('a', names)
    for (const name of names) node.count(name, 200)
    node.count('e102', 200)
    now += MINUTE
    await node.storeMinute()
    const rows = () => store.db.selectFrom('traffic_minutes').select('endpoint').execute()
    const stored = (await rows()).map(({ endpoint }) => endpoint)
    expect(stored).toHaveLength(101)
    expect(stored).toEqual(expect.arrayContaining(['', 'e102']))
    now += 24 * 60 * MINUTE
    await node.storeMinute()
    expect(await rows()).toHaveLength(102)
    now += MINUTE
    await node.storeMinute()
    expect(await rows()).toHaveLength(2)
  })
})

describe.each(['sqlite', 'postgres'])('%s', (engine) => {
  it('lists what needs attention and counts endpoints, as a role and its databases permit', async () => {
    await using stack = new AsyncDisposableStack()
    const database = engine === 'postgres' ? await makeDatabase() : undefined
    if (database !== undefined) stack.defer(database.remove)
    const app = await openApp(database?.location)
    stack.defer(app.close)
    const send = (method: string, path: string, body?: object) =>
      app.request(path, {
        method,
        ...(body && {
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify(body),
        }),
      })
    const [port = 0, taken = 0] = await freePorts(2)
    const open = `tcp://127.0.0.1:${port}`
    const failed = `tcp://127.0.0.1:${taken}`
    const of = (address: string) => `?endpoint=${encodeURIComponent(address)}`
    for (const name of ['shop', 'blog']) await send('POST', '/_api/database', { name })
    await send('POST', '/_api/endpoint', { endpoint: open, databases: ['shop', 'gone', 'lost'] })
    // Turned off while it is added: an endpoint is not added if its port cannot be opened.
    await send('PUT', `/_api/policy${of(failed)}`, { enabled: false })
    await send('POST', '/_api/endpoint', { endpoint: failed, databases: ['blog'] })
    const blocker = createServer().listen(taken, '127.0.0.1')
    stack.defer(() => void blocker.close())
    await once(blocker, 'listening')
    await send('DELETE', `/_api/policy${of(failed)}`)
    const expires = new Date(Date.now() + 86_400_000).toISOString()
    await send('POST', '/_api/token', { name: 'soon', role: 'viewer', expires })
    await send('PUT', '/_db/shop/_feed/orders', {})
    await send('POST', '/_api/webhook', {
      ...{ name: 'hook', url: 'https://example.org', database: 'shop', collections: ['orders'] },
    })
    await send('POST', '/_api/webhook/hook/pause')

    /** Signs in a person whose role is limited to a database. */
    async function signIn(role: Role, scope: string): Promise<string> {
      const secret = await app.access.signIn(
        {
          ...{ provider: 'x', issuer: 'x', subject: `a ${role}`, name: null },
          ...{ accessToken: 'x', operatorKey: null },
        },
        { address: null, userAgent: null },
      )
      await app.store.db
        .updateTable('people')
        .set({ role, databases: JSON.stringify([scope]) })
        .where('subject', '=', `a ${role}`)
        .execute()
      app.access.sync()
      return `gatehouse_test=${secret}`
    }
    await signIn('pending', 'shop')
    const cookies = {
      viewer: await signIn('viewer', 'shop'),
      operator: await signIn('operator', 'gone'),
      editor: await signIn('editor', 'shop'),
    }
    const get = async (path: string, role?: keyof typeof cookies) => {
      const response = await app.request(path, role && { headers: { Cookie: cookies[role] } })
      return { status: response.status, json: await response.json() }
    }
    const found = async (role?: keyof typeof cookies): Promise<string[]> =>
      (await get('/_api/attention', role)).json.map(
        ({ kind, target }: AttentionItem) => `${kind} ${target}`,
      )
    await expect
      .poll(() => found())
      .toEqual([
        `endpoint-failed ${failed}`,
        'webhook-paused hook',
        'database-missing gone',
        'database-missing lost',
        'person-waiting x:a pending',
        expect.stringMatching(/^token-expires .*\/soon$/),
      ])
    expect(await found('viewer')).toEqual([])
    expect(await found('editor')).toEqual(['webhook-paused hook'])
    expect(await found('operator')).toEqual(['database-missing gone'])

    await app.store.db
      .updateTable('webhooks')
      .set({
        ...{ paused: 0, reason: null, failing_since: Date.now() },
        last_response: JSON.stringify({ status: 503, at: expires, error: 'The response was 503.' }),
      })
      .execute()
    expect((await get('/_api/attention')).json).toContainEqual(
      expect.objectContaining({ kind: 'webhook-failing', detail: 'The response was 503.' }),
    )

    const all = (await get('/_api/traffic')).json
    expect(all).toMatchObject({ endpoints: { failed: 1 }, stepSeconds: 60 })
    const { json } = await get('/_api/traffic?range=24h', 'viewer')
    expect(json).toMatchObject({ endpoints: { listening: 1 }, stepSeconds: 600 })
    expect([json.endpoints.failed, json.steps.length]).toEqual([undefined, 144])
    expect((await get('/_api/traffic/endpoint', 'viewer')).json).toMatchObject({ endpoints: [] })
    expect((await get(`/_api/traffic${of(open)}`, 'viewer')).status).toBe(200)
    expect((await get(`/_api/traffic${of(failed)}`, 'viewer')).status).toBe(404)
  })
})
