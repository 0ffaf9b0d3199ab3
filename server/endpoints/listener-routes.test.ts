import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ListenerStatus } from '../contract/endpoints/listener.ts'
import { type EndpointTraffic, SAMPLES } from '../contract/endpoints/traffic.ts'
import { endpointPath, startForTest, type TestNode } from '../test-support/start.testing.ts'
import { CHECKS_PER_MINUTE } from './check/check-limit.ts'

const asked = (...addresses: string[]) =>
  addresses.map((address) => `endpoint=${encodeURIComponent(address)}`).join('&')

const trafficPath = (address: string) => `/_api/listener/${encodeURIComponent(address)}/traffic`

let node: TestNode
let first: string
let second: string

beforeAll(async () => {
  node = await startForTest()
  first = node.address
  mkdirSync(join(node.data, 'sockets'))
  second = `unix://${join(node.data, 'sockets', 'second')}`
  await node.request('POST', '/_api/endpoint', { endpoint: second, databases: [] })
})

afterAll(() => node.stop())

const listeners = async (query = ''): Promise<ListenerStatus[]> =>
  (await node.request('GET', `/_api/listener${query}`)).json

const names = (listed: readonly ListenerStatus[]) => listed.map(({ endpoint }) => endpoint)

/** Polls until a sample that satisfies `check` has been taken. */
const sampled = <T>(read: () => Promise<T>, check: (value: T) => void) =>
  expect.poll(read, { interval: 200 }).toSatisfy((value) => {
    check(value as T)
    return true
  })

describe('GET /_api/listener', () => {
  test('lists every listener without a query, and no samples', async () => {
    const all = await listeners()
    expect(names(all)).toEqual([first, second])
    for (const each of all) expect(each).not.toHaveProperty('recent')
  })

  test('lists the requested endpoints, in any spelling', async () => {
    expect(names(await listeners(`?${asked(second)}`))).toEqual([second])
    expect(names(await listeners(`?${asked(second, first.replace('tcp', 'TCP'))}`))).toEqual([
      first,
      second,
    ])
    expect(await listeners(`?${asked('tcp://127.0.0.1:1')}`)).toEqual([])
  })

  test('returns the requested number of samples', async () => {
    const [one] = await listeners(`?${asked(first)}&recent=60`)
    expect(one?.recent).toHaveLength(60)
    expect(one?.recent?.[0]).toBeNull()
  })

  test.each([
    ['endpoint=nonsense', 'endpoint'],
    ['endpoint=', 'endpoint'],
    [asked(...Array.from({ length: 201 }, (_, at) => `tcp://a:${at + 1}`)), 'endpoint'],
    ['recent=5', 'recent'],
    ...['0', '61', '100', '', '-1', '1.5', 'x'].map((recent) => [
      `${asked('tcp://a:1')}&recent=${recent}`,
      'recent',
    ]),
    [`${asked('tcp://a:1')}&recent=1&recent=2`, 'recent'],
  ])('rejects %s', async (query, field) => {
    const response = await node.request('GET', `/_api/listener?${query}`)
    expect(response.status).toBe(400)
    expect(response.json).toMatchObject({ errorNum: 10, code: 400 })
    expect(response.json.errorMessage).toContain(field)
  })

  test('accepts 200 addresses', async () => {
    const many = Array.from({ length: 200 }, (_, at) => `tcp://a:${at + 1}`)
    expect(await listeners(`?${asked(...many)}`)).toEqual([])
  })
})

describe('the routes of one listener', () => {
  test.each([
    ['GET', 'traffic', 200],
    ['POST', 'retry', 200],
    ['POST', 'close', 404],
  ])('%s %s accepts the address in the path or in the query', async (method, action, status) => {
    const send = (path: string) => node.request(method, `/_api/listener/${path}`)
    const text = encodeURIComponent(first)
    const byPath = await send(`${text}/${action}`)
    const byQuery = await send(`${action}?endpoint=${first}`)
    expect([byPath.status, byQuery.status]).toEqual([status, status])
    expect(Object.keys(byQuery.json)).toEqual(Object.keys(byPath.json))
    for (const path of [
      `${text}/${action}?endpoint=${first}`,
      `${action}?endpoint=${first}&endpoint=${first}`,
      `${action}?endpoint=`,
      action,
    ]) {
      expect((await send(path)).json).toMatchObject({ code: 400, errorNum: 10 })
    }
  })
})

describe('GET /_api/listener/<address>/traffic', () => {
  test('returns the last hour of requests and nothing before', async () => {
    for (let n = 0; n < 5; n++) await node.request('GET', '/_api/health')
    await node.request('GET', '/_api/nonsense')
    const read = async (): Promise<EndpointTraffic> =>
      (await node.request('GET', trafficPath(first))).json
    await sampled(read, ({ nodes: [only] }) => {
      expect(only?.requests.reduce((sum: number, n) => sum + (n ?? 0), 0)).toBeGreaterThan(5)
    })
    const traffic = await read()
    expect(traffic).toMatchObject({ endpoint: first, sampleSeconds: 5, nodes: [{ node: 'test' }] })
    const until = Date.parse(traffic.until)
    expect(traffic.until).toMatch(/Z$/)
    expect(until % 5_000).toBe(0)
    const [only] = traffic.nodes
    if (only === undefined) throw new Error('no node')
    const sum = (series: readonly (number | null)[]) =>
      series.reduce((total: number, n) => total + (n ?? 0), 0)
    for (const kind of ['requests', 'errors', 'bytesIn', 'bytesOut', 'connections'] as const) {
      expect(only[kind], kind).toHaveLength(SAMPLES)
      expect(only[kind][0], kind).toBeNull()
    }
    expect(sum(only.errors)).toBeGreaterThan(0)
    expect(sum(only.bytesOut)).toBeGreaterThan(sum(only.requests) * 100)
  })

  test('returns the same samples as rates in the list', async () => {
    await node.request('GET', '/_api/health')
    const rates = async () => {
      const [listener] = await listeners(`?${asked(first)}&recent=12`)
      return listener?.recent ?? []
    }
    await sampled(rates, (seen) => expect(seen.some((rate) => (rate ?? 0) > 0)).toBe(true))
    // A sample may end between the two requests.
    await expect
      .poll(async () => {
        const seen = await rates()
        const { nodes }: EndpointTraffic = (await node.request('GET', trafficPath(first))).json
        const counts = nodes[0]?.requests.slice(-12) ?? []
        return JSON.stringify(counts.map((n) => n && n / 5)) === JSON.stringify(seen)
      })
      .toBe(true)
  })

  test('returns 0 for an endpoint without requests', async () => {
    const read = async (): Promise<EndpointTraffic> =>
      (await node.request('GET', trafficPath(second))).json
    await sampled(read, ({ nodes: [only] }) => expect(only?.requests.at(-1)).toBe(0))
  })

  test('handles HEAD like GET', async () => {
    const response = await node.request('HEAD', trafficPath(first))
    expect(response.status).toBe(200)
    expect(response.text).toBe('')
  })

  test('returns 404 for an absent or removed endpoint and for an invalid address', async () => {
    const removed = `unix://${join(node.data, 'sockets', 'gone')}`
    await node.request('POST', '/_api/endpoint', { endpoint: removed, databases: [] })
    expect((await node.request('GET', trafficPath(removed))).status).toBe(200)
    await node.request('DELETE', endpointPath(removed))
    for (const address of [removed, 'tcp://127.0.0.1:1', 'nonsense']) {
      const response = await node.request('GET', trafficPath(address))
      expect(response.status, address).toBe(404)
      expect(response.json).toEqual({
        error: true,
        code: 404,
        errorNum: 1231,
        errorMessage: 'endpoint not found',
      })
    }
  })

  test('requires a signed-in person', async () => {
    const response = await node.request('GET', trafficPath(first), undefined, {
      headers: { Authorization: 'Bearer nonsense' },
    })
    expect(response.status).toBe(401)
  })
})

describe('GET /_api/address', () => {
  const freePorts = async (near: number) =>
    (await node.request('GET', `/_api/address?near=${near}`)).json

  test('finds the first free port from one on, for each address', async () => {
    const port = Number(first.split(':').at(-1))
    const loopback = (await freePorts(port)).find(
      ({ host }: { host: string }) => host === '127.0.0.1',
    )
    expect(loopback.freePort).toBeGreaterThan(port)
    expect((await node.request('GET', '/_api/address')).json[0]).not.toHaveProperty('freePort')
  })

  test('counts as one check of the person, within the limit of checks', async () => {
    const checked: string[] = []
    for (let checks = 0; checks < CHECKS_PER_MINUTE; checks++) checked.push(await freePorts(65_535))
    expect(await freePorts(65_535)).toMatchObject({ code: 429 })
    expect(checked.filter((each) => !Array.isArray(each)).length).toBeLessThan(4)
  })

  test('rejects what is not a port', async () => {
    expect(await freePorts(65_536)).toMatchObject({ code: 400, errorNum: 10 })
  })
})
