import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AuditRow } from '../contract/audit.ts'
import type { EndpointRecord } from '../contract/endpoints/endpoint.ts'
import { DURATION_BOUNDS } from '../contract/endpoints/traffic.ts'
import { freePorts } from '../endpoints/listeners/free-ports.testing.ts'
import { makeDatabase, type TestLocation } from '../storage/test-support/each-engine.testing.ts'
import { openApp } from '../test-support/app.testing.ts'

// Tests what a person whose role is limited to databases sees of endpoints, events and the audit
// log, compared with a plain reference.

const MAPPINGS = [[], ['a'], ['b'], ['b', 'a'], ['b', '_system'], ['later']]
const SCOPES = [null, ['a'], ['a', 'later'], ['c'], ['_system', 'a']]

describe.each(['sqlite', 'postgres'])('%s', (engine) => {
  let database: TestLocation | undefined
  let opened: Awaited<ReturnType<typeof openApp>>
  const addresses: string[] = []
  const sessions = new Map<string, string>()

  const send = async (method: string, path: string, body: unknown) => {
    const headers = { 'Content-Type': 'application/json' }
    const response = await opened.request(path, { method, headers, body: JSON.stringify(body) })
    expect([path, response.status]).toEqual([path, response.status < 300 ? response.status : 200])
  }
  const map = (endpoint: string, databases: readonly string[]) =>
    send('POST', '/_api/endpoint', { endpoint, databases })
  const policyPath = (endpoint: string) => `/_api/policy?endpoint=${endpoint}`

  /** Signs in a person with a role that is limited to databases. */
  async function signIn(databases: readonly string[] | null, role: string): Promise<string> {
    const subject = `${role} ${databases}`
    const secret = await opened.access.signIn(
      {
        ...{ provider: 'github', issuer: 'x', subject, name: null },
        ...{ accessToken: 'x', operatorKey: null },
      },
      { address: null, userAgent: null },
    )
    await opened.store.db
      .updateTable('people')
      .set({ role: role as 'viewer', databases: databases && JSON.stringify(databases) })
      .where('subject', '=', subject)
      .execute()
    opened.access.sync()
    return `gatehouse_test=${secret}`
  }

  beforeAll(async () => {
    if (engine === 'postgres') database = await makeDatabase()
    opened = await openApp(database?.location)
    for (const name of ['a', 'b', 'c']) await send('POST', '/_api/database', { name })
    for (const name of ['a', 'b']) await send('POST', `/_db/${name}/things`, [{ id: 'x' }])
    for (const name of ['a', 'b']) await opened.request(`/_db/${name}/things`, { method: 'DELETE' })
    for (const port of await freePorts(MAPPINGS.length)) addresses.push(`tcp://127.0.0.1:${port}`)
    for (const [at, endpoint] of addresses.entries()) {
      await map(endpoint, MAPPINGS[at] as string[])
      await send('PUT', policyPath(endpoint), { note: `of ${at}` })
    }
    const minute = Math.floor(Date.now() / 60_000) - 2
    const counts = JSON.stringify([1, 0, 0, 1, ...DURATION_BOUNDS.map(() => 0)])
    await opened.store.db
      .insertInto('traffic_minutes')
      .values(addresses.map((endpoint) => ({ endpoint, minute, node: 'a', counts, open: 0 })))
      .execute()
    for (const scope of SCOPES) {
      sessions.set(`viewer ${scope}`, await signIn(scope, 'viewer'))
      sessions.set(`operator ${scope}`, await signIn(scope, 'operator'))
    }
  })
  afterAll(async () => {
    await opened.close()
    await database?.remove()
  })

  describe.each(SCOPES.map((scope) => ({ scope })))('a person limited to $scope', ({ scope }) => {
    const get = (path: string, role = 'viewer', headers = {}) =>
      opened.request(path, {
        headers: { Cookie: sessions.get(`${role} ${scope}`) as string, ...headers },
      })
    const read = async (path: string, role?: string) => (await get(path, role)).json()
    const isLimited = scope !== null && !scope.includes('_system')
    const isShown = (mapping: readonly string[] | undefined) =>
      mapping !== undefined &&
      (!isLimited || mapping.length === 0 || mapping.some((name) => scope.includes(name)))
    const endpoints = () =>
      addresses.map((endpoint, at) => ({ endpoint, databases: MAPPINGS[at] as string[] }))
    const shown = (): EndpointRecord[] =>
      endpoints()
        .filter(({ databases }) => isShown(databases))
        .map(({ endpoint, databases }) => ({
          endpoint,
          databases: databases.filter((name) => !isLimited || scope.includes(name)),
        }))
        .sort((one, other) => (one.endpoint < other.endpoint ? -1 : 1))
    const shownAddresses = () => shown().map(({ endpoint }) => endpoint)
    const addressesOf = (records: { endpoint: string }[]) => records.map(({ endpoint }) => endpoint)

    test('sees the endpoints that serve one of them, with these databases only', async () => {
      expect(await read('/_api/endpoint')).toEqual(shown())
      for (const { endpoint } of endpoints()) {
        const expected = shown().filter((each) => each.endpoint === endpoint)
        expect(await read(`/_api/endpoint?endpoint=${endpoint}`)).toEqual(expected)
      }
    })

    test('sees the listeners, traffic, metrics and policies of these endpoints', async () => {
      expect(addressesOf(await read('/_api/listener'))).toEqual(shownAddresses())
      const stored = await read('/_api/traffic/endpoint')
      expect(addressesOf(stored.endpoints)).toEqual(shownAddresses())
      expect(addressesOf(await read('/_api/policy', 'operator'))).toEqual(shownAddresses())
      const metrics = await (await get('/_api/metrics')).text()
      for (const { endpoint, databases } of endpoints()) {
        const status = isShown(databases) ? 200 : 404
        expect(metrics.includes(`endpoint="${endpoint}"`)).toBe(status === 200)
        const traffic = await get(`/_api/listener/traffic?endpoint=${endpoint}`)
        expect([traffic.status, (await get(policyPath(endpoint), 'operator')).status]).toEqual([
          status,
          status,
        ])
      }
    })

    test('gets events of these databases and of endpoints that serve one, before or after', async () => {
      const after = opened.events.lastId
      const endpoint = addresses[2] as string
      const changes = [['b', 'c'], ['a'], ['c'], ['b']]
      for (const databases of changes) await map(endpoint, databases)
      await send('POST', '/_api/database', { name: 'later' })
      await opened.request('/_api/database/later', { method: 'DELETE' })
      opened.events.publish({ type: 'index' })
      const response = await get(`/_api/events?after=${after}`)
      const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
      let text = ''
      while (!text.includes('"index"')) text += (await reader?.read())?.value
      await reader?.cancel()
      const sent = [...text.matchAll(/^data: (\{"type".*)$/gm)].map(([, data]) =>
        JSON.parse(data as string),
      )
      const states = [['b'], ...changes]
      const expected = changes.filter((databases, at) =>
        isShown([...databases, ...(states[at] ?? [])]),
      )
      expect(sent.filter(({ type }) => type === 'endpoint')).toHaveLength(expected.length)
      const isNamed = sent.some(({ type, name }) => type === 'database' && name === 'later')
      expect(isNamed).toBe(scope === null || scope.includes('later'))
    })

    test('reads the rows of the audit log that name no other databases', async () => {
      const all = async (role: string, path = '/_api/audit?limit=500') =>
        (await (await get(path, role)).json()).rows as AuditRow[]
      const unlimited = await opened.request('/_api/audit?limit=500')
      const expected = ((await unlimited.json()).rows as AuditRow[]).filter((row) => {
        const { action, target, outcome, before, after } = row
        if (!isLimited) return true
        if (/^(database|collection|index|schema|feed)\./.test(action)) {
          return scope.includes(target.split('/')[0] as string)
        }
        const named = [before, after].flatMap((each) => (each as EndpointRecord)?.databases ?? [])
        const isMapping = /^endpoint\.(add|map|remove)$/.test(action) && outcome === 'done'
        return isMapping && named.every((name) => scope.includes(name))
      })
      expect(await all('viewer')).toEqual(expected)
      expect(expected.length).toBeGreaterThan(0)
    })
  })
})
