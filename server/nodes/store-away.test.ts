import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePorts } from '../endpoints/free-ports.testing.ts'
import { killProcesses } from '../server-process.testing.ts'
import type { Answer } from '../start.testing.ts'
import { type OwnPostgres, startOwnPostgres } from '../storage/postgres-server.testing.ts'
import { startTcpProxy, type TcpProxy } from '../storage/tcp-proxy.testing.ts'
import { type NodeProcess, startNodes } from './node-processes.testing.ts'

// Two nodes, each with a way of its own to a PostgreSQL that goes away under both, or under one.

/** Whoever asks for data hears within this that there is none, ms. */
const REFUSED = 2_000
/** How late a timer may be on a busy machine, ms. */
const LATE = 1_500
/** How long what comes back may take, on such a machine too. */
const RETURNED = { timeout: 10_000, interval: 10 }

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

const ready = (node: NodeProcess) => node.ask('GET', '/_api/health/ready')

/** How often a log has a line. */
const count = (node: NodeProcess, line: string) => node.process.printed().split(line).length - 1

const ways = [
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

test.each(ways)(
  'nodes whose store $way lose nothing that they said yes to, and are one again',
  async ({ way, go, back }) => {
    const said = nodes.map((node) => count(node, 'the store is away'))
    const returned = nodes.map((node) => count(node, 'the store is back'))
    let over = false
    const acknowledged = new Set<string>()
    let slowest = 0
    // Each writes on and on, as a client does that repeats what was not answered with yes.
    const write = async (node: NodeProcess, worker: number) => {
      for (let n = 0; !over; n++) {
        const id = `${way.replaceAll(' ', '-')}-${node.name}-${worker}-${n}`
        for (let first = true; ; first = false) {
          const begun = performance.now()
          const { status, headers }: Answer = await node.ask('POST', '/things', { id })
          slowest = Math.max(slowest, performance.now() - begun)
          if (status === 503) {
            expect(headers['retry-after']).toBe('1')
            continue
          }
          // What happened although nobody could say so is there, once.
          expect(first ? [201] : [201, 409]).toContain(status)
          break
        }
        acknowledged.add(id)
      }
    }
    const writing = nodes.flatMap((node) => [0, 1, 2].map((worker) => write(node, worker)))
    await expect.poll(() => acknowledged.size, RETURNED).toBeGreaterThan(20)
    await go()
    for (const node of nodes) {
      await expect.poll(async () => (await ready(node)).status, RETURNED).toBe(503)
    }
    await back()
    for (const node of nodes) {
      await expect.poll(async () => (await ready(node)).status, RETURNED).toBe(200)
    }
    const before = acknowledged.size
    await expect.poll(() => acknowledged.size, RETURNED).toBeGreaterThan(before + 20)
    over = true
    await Promise.all(writing)
    expect(slowest).toBeLessThan(REFUSED + LATE)

    // Nothing is missing, and nothing is there that nobody was told of.
    const stored: string[] = []
    for (let path: string | undefined = '/things?limit=1000'; path !== undefined; ) {
      const { json, headers }: Answer = await b.ask('GET', path)
      stored.push(...json.map(({ id }: { id: string }) => id))
      path = /<([^>]+)>; rel="next"/
        .exec(String(headers.link))?.[1]
        ?.replace(/^https?:\/\/[^/]+/, '')
    }
    const own = stored.filter((id) => id.startsWith(way.replaceAll(' ', '-')))
    expect(own.sort()).toEqual([...acknowledged].sort())

    // They hear of each other as before.
    const name = `after-${way.replaceAll(' ', '-')}`
    await expect
      .poll(async () => (await a.ask('POST', '/_api/database', { name })).status, RETURNED)
      .toBe(201)
    await expect.poll(async () => (await b.ask('GET', `/_db/${name}/`)).status, RETURNED).toBe(200)

    for (const [at, node] of nodes.entries()) {
      // Not by each that misses it, of whom there are many.
      expect(count(node, 'the store is away') - (said[at] ?? 0)).toBeLessThan(10)
      expect(count(node, 'the store is away')).toBeGreaterThan(said[at] ?? 0)
      expect(count(node, 'the store is back')).toBeGreaterThan(returned[at] ?? 0)
      // Nor as a fault, but for a change of which nobody can say what became of it.
      const faults = node.process
        .printed()
        .split('\n')
        .filter((line) => line.includes('"level":50'))
      expect(faults.filter((line) => !line.includes('We do not know'))).toEqual([])
    }
  },
  60_000,
)

test('what was changed while a node could not hear of it is in effect there when it can', async () => {
  const [port = 0] = await freePorts(1)
  const endpoint = `tcp://127.0.0.1:${port}`
  proxies[1]?.swallow()
  await expect
    .poll(async () => (await ready(b)).status, { timeout: 10_000, interval: 20 })
    .toBe(503)
  await a.ask('POST', '/_api/endpoint', { endpoint, databases: ['_system', 'unheard'] })
  const listed = async () =>
    (await b.ask('GET', '/_api/endpoint')).text.includes(JSON.stringify(['_system', 'unheard']))
  proxies[1]?.heal()
  await expect.poll(listed, RETURNED).toBe(true)

  // The same where only its connections were cut, of which it hears nothing else.
  await a.ask('POST', '/_api/database', { name: 'again' })
  await expect.poll(async () => (await b.ask('GET', '/_db/again/')).status, RETURNED).toBe(200)
  proxies[1]?.cut()
  await a.ask('DELETE', '/_api/database/again')
  await expect.poll(async () => (await b.ask('GET', '/_db/again/')).status, RETURNED).toBe(404)
}, 60_000)
