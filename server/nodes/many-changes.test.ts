import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import type { EndpointRecord } from '../contract/endpoint.ts'
import { freePorts } from '../endpoints/free-ports.testing.ts'
import { listeningAddresses } from '../endpoints/kernel-sockets.testing.ts'
import { readEndpoints } from '../endpoints/repository.ts'
import { killProcesses } from '../server-process.testing.ts'
import { endpointPath } from '../start.testing.ts'
import { forEngine } from '../storage/each-engine.testing.ts'
import type { Store } from '../storage/open.ts'
import { type NodeProcess, startNodes } from './node-processes.testing.ts'

/** How many changes are made, by as many clients as there are nodes, each of its own endpoints. */
const CHANGES = 500
const OWN = 6

/** How many endpoints all clients change. */
const SHARED = 4

/** After so many changes one node is killed; after so many another one stops, for so long, ms. */
const KILL_AFTER = 150
const STOP = { after: 300, ms: 3_000 }

/** Stands for an endpoint that is not there. */
const ABSENT = 'absent'

/** What an endpoint may be: one thing after an answer, several where there was none. */
type Known = Map<string, Set<string>>

/** Pseudo-random numbers from 0 to below `end`, the same in every run (mulberry32). */
function randomNumbers(seed: number): (end: number) => number {
  let state = seed
  return (end) => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 4_294_967_296) * end)
  }
}

forEngine('postgres', (engine) => {
  afterEach(killProcesses)

  test(`after ${CHANGES} changes from three nodes, one killed and one stopped on the way, all agree`, async () => {
    const { databaseUrl } = engine.location() as { databaseUrl: string }
    const nodes = await startNodes(databaseUrl, ['a', 'b', 'c'])
    const [a, b, c] = nodes as [NodeProcess, NodeProcess, NodeProcess]
    const ports = await freePorts(nodes.length * OWN + SHARED)
    const addresses = ports.map((port) => `tcp://127.0.0.1:${port}`)
    const shared = addresses.slice(nodes.length * OWN)
    const known: Known = new Map(addresses.map((address) => [address, new Set([ABSENT])]))
    let made = 0
    let acknowledged = 0
    let ended = false

    async function client(home: NodeProcess, at: number): Promise<void> {
      const random = randomNumbers(8529 + at)
      const own = addresses.slice(at * OWN, (at + 1) * OWN)
      while (made < CHANGES) {
        const number = ++made
        if (number === KILL_AFTER) {
          c.process.signal('SIGKILL')
          ended = true
        }
        if (number === STOP.after) {
          b.process.signal('SIGSTOP')
          void pause(STOP.ms).then(() => b.process.signal('SIGCONT'))
        }
        const pool = random(4) === 0 ? shared : own
        const address = pool[random(pool.length)] ?? ''
        const databases = random(2) === 0 ? [] : [`db${number}`, '_system']
        const removes = random(3) === 0
        // Whoever has lost their node goes on at another.
        const node = ended && home === c ? a : home
        const before = known.get(address) ?? new Set()
        const after = removes ? ABSENT : JSON.stringify(databases)
        const answer = await (removes
          ? node.ask('DELETE', endpointPath(address))
          : node.ask('POST', '/_api/endpoint', { endpoint: address, databases })
        ).catch(() => undefined)
        if (answer?.status === 200) {
          acknowledged++
          known.set(address, new Set([after]))
        } else if (answer === undefined || answer.status === 503) {
          known.set(address, new Set([...before, after]))
        } else if (answer.status === 404 && removes) {
          known.set(address, new Set([ABSENT]))
        } else {
          expect([409], answer.text).toContain(answer.status)
        }
      }
    }
    await Promise.all(nodes.map(client))
    expect(acknowledged).toBeGreaterThan(CHANGES / 2)

    const store = await engine.open('tool')
    await expect.poll(() => difference(store, [a, b]), { timeout: 45_000, interval: 250 }).toBe('')
    const table = new Map(
      (await readEndpoints(store)).map((row) => [row.endpoint, JSON.stringify(row.databases)]),
    )
    const missing = addresses
      .filter((address) => !shared.includes(address))
      .filter((address) => !known.get(address)?.has(table.get(address) ?? ABSENT))
    expect(missing).toEqual([])
  }, 180_000)
})

/** Where nodes, the table and the sockets do not agree, as a sentence; nothing where they do. */
async function difference(store: Store, nodes: readonly NodeProcess[]): Promise<string> {
  const table: EndpointRecord[] = (await readEndpoints(store)).map(({ endpoint, databases }) => ({
    endpoint,
    databases,
  }))
  const proposed = await store.db
    .selectFrom('endpoints')
    .select('address')
    .where('proposal', 'is not', null)
    .execute()
  if (proposed.length > 0) return `proposed: ${JSON.stringify(proposed)}`
  for (const node of nodes) {
    const { text } = await node.ask('GET', '/_api/endpoint')
    if (text !== JSON.stringify(table)) return `${node.name}: ${text}\n${JSON.stringify(table)}`
  }
  const sockets = await Promise.all(nodes.map(({ process }) => listeningAddresses(process.pid)))
  const open = sockets.flat().sort()
  const wanted = table.map(({ endpoint }) => endpoint)
  if (open.join() !== wanted.join()) return `sockets: ${open}\n${wanted}`
  for (const node of nodes) {
    const { json } = await node.ask('GET', '/_api/listener')
    for (const [at, { name }] of nodes.entries()) {
      for (const endpoint of wanted) {
        const states = (json as { endpoint: string; node: string; state: string }[])
          .filter((each) => each.endpoint === endpoint && each.node === name)
          .map(({ state }) => state)
        const due = sockets[at]?.includes(endpoint) ? 'listening' : 'elsewhere'
        if (states[0] !== due)
          return `${node.name} says of ${name} ${endpoint}: ${states}, not ${due}`
      }
    }
  }
  return ''
}
