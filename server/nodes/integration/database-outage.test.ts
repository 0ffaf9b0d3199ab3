import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePorts } from '../../endpoints/listeners/free-ports.testing.ts'
import {
  type OwnPostgres,
  startOwnPostgres,
} from '../../storage/test-support/postgres-server.testing.ts'
import { startTcpProxy, type TcpProxy } from '../../storage/test-support/tcp-proxy.testing.ts'
import { killProcesses } from '../../test-support/server-process.testing.ts'
import type { TestResponse } from '../../test-support/start.testing.ts'
import { type NodeProcess, startNodes } from './node-processes.testing.ts'

// Two nodes, each with its own proxy to a PostgreSQL that becomes unavailable for both or for one.

let server: OwnPostgres
let proxies: TcpProxy[]
let nodes: NodeProcess[]
let a: NodeProcess
let b: NodeProcess

beforeAll(async () => {
  server = await startOwnPostgres()
  proxies = [await startTcpProxy(server.port), await startTcpProxy(server.port)]
  const urls = proxies.map(({ port }) => `postgres://gatehouse@127.0.0.1:${port}/postgres`)
  nodes = await startNodes(urls, ['a', 'b'])
  ;[a, b] = nodes as [NodeProcess, NodeProcess]
})
afterAll(async () => {
  await killProcesses()
  for (const proxy of proxies) await proxy.close()
  await server.remove()
})

const ready = (node: NodeProcess) =>
  node.request('GET', '/_api/health/ready', undefined, { once: true })

/** Returns how often the log of a node contains a line. */
const count = (node: NodeProcess, line: string) => node.process.printed().split(line).length - 1

const outages = [
  { way: 'is stopped', go: () => server.stop('SIGINT'), back: () => server.start() },
  { way: 'crashes', go: () => server.stop('SIGKILL'), back: () => server.start() },
  {
    way: 'vanishes',
    go: async () => {
      for (const proxy of proxies) proxy.swallow()
    },
    back: async () => {
      for (const proxy of proxies) proxy.heal()
    },
  },
]

test.each(outages)(
  'nodes whose PostgreSQL $way keep all acknowledged changes and agree afterwards',
  async ({ way, go, back }) => {
    const printed = nodes.map((node) => node.process.printed().length)
    const said = nodes.map((node) => count(node, 'the database is unavailable'))
    const returned = nodes.map((node) => count(node, 'the database is available again'))
    let over = false
    const acknowledged = new Set<string>()
    // Each client repeats a write until it is acknowledged, as a real client does.
    const write = async (node: NodeProcess, worker: number) => {
      for (let n = 0; !over; n++) {
        const id = `${way.replaceAll(' ', '-')}-${node.name}-${worker}-${n}`
        for (let first = true; ; first = false) {
          const sent = node.request('POST', '/things', { id }, { once: true })
          const { status, headers }: TestResponse = await sent
          if (status === 503) {
            expect(headers['retry-after']).toBe('1')
            continue
          }
          // A write whose outcome was unknown may have been made; then a retry gets 409.
          expect(first ? [201] : [201, 409]).toContain(status)
          break
        }
        acknowledged.add(id)
      }
    }
    const writing = nodes.flatMap((node) => [0, 1, 2].map((worker) => write(node, worker)))
    await expect.poll(() => acknowledged.size).toBeGreaterThan(20)
    await go()
    for (const node of nodes) {
      await expect.poll(async () => (await ready(node)).status).toBe(503)
    }
    await back()
    for (const node of nodes) {
      await expect.poll(async () => (await ready(node)).status).toBe(200)
    }
    const before = acknowledged.size
    await expect.poll(() => acknowledged.size).toBeGreaterThan(before + 20)
    over = true
    await Promise.all(writing)

    // All acknowledged documents are stored, and no others.
    const stored: string[] = []
    for (let path: string | undefined = '/things?limit=1000'; path !== undefined; ) {
      const { json, headers }: TestResponse = await b.request('GET', path)
      stored.push(...json.map(({ id }: { id: string }) => id))
      path = /<([^>]+)>; rel="next"/
        .exec(String(headers.link))?.[1]
        ?.replace(/^https?:\/\/[^/]+/, '')
    }
    const own = stored.filter((id) => id.startsWith(way.replaceAll(' ', '-')))
    expect(own.sort()).toEqual([...acknowledged].sort())

    // The nodes notify each other again.
    const name = `after-${way.replaceAll(' ', '-')}`
    await expect
      .poll(async () => (await a.request('POST', '/_api/database', { name })).status)
      .toBeOneOf([201, 409])
    await expect.poll(async () => (await b.request('GET', `/_db/${name}/`)).status).toBe(200)

    for (const [at, node] of nodes.entries()) {
      // Logged a few times per outage, not once per failed request.
      expect(count(node, 'the database is unavailable') - (said[at] ?? 0)).toBeLessThan(10)
      expect(count(node, 'the database is unavailable')).toBeGreaterThan(said[at] ?? 0)
      await expect
        .poll(() => count(node, 'the database is available again'))
        .toBeGreaterThan(returned[at] ?? 0)
      // No errors are logged, except for changes whose outcome is unknown. Requests that fail at
      // the very end of an outage may be logged with their reason.
      const errors = node.process
        .printed()
        .slice(printed[at])
        .split('\n')
        .filter(
          (line) =>
            line.includes('"level":50') &&
            !line.includes('The database did not confirm the change'),
        )
      expect(errors.filter((line) => !line.includes('"reason":')).join('\n')).toBe('')
      expect(errors.length, errors.join('\n')).toBeLessThan(10)
    }
  },
)

test('a node applies changes made during its outage when it recovers', async () => {
  const [port = 0] = await freePorts(1)
  const endpoint = `tcp://127.0.0.1:${port}`
  proxies[1]?.swallow()
  await expect.poll(async () => (await ready(b)).status).toBe(503)
  await a.request('POST', '/_api/endpoint', { endpoint, databases: ['_system', 'unheard'] })
  const listed = async () =>
    (await b.request('GET', '/_api/endpoint')).text.includes(JSON.stringify(['_system', 'unheard']))
  proxies[1]?.heal()
  await expect.poll(listed).toBe(true)

  // The same if only its connections are closed, without any other sign.
  await a.request('POST', '/_api/database', { name: 'again' })
  await expect.poll(async () => (await b.request('GET', '/_db/again/')).status).toBe(200)
  proxies[1]?.cut()
  await a.request('DELETE', '/_api/database/again')
  await expect.poll(async () => (await b.request('GET', '/_db/again/')).status).toBe(404)
})
