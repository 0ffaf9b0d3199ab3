import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { EndpointRecord } from '../contract/endpoint.ts'
import { freePorts } from '../endpoints/free-ports.testing.ts'
import { listeningAddresses } from '../endpoints/kernel-sockets.testing.ts'
import { readEndpoints } from '../endpoints/repository.ts'
import { randomNumbers } from '../endurance/settings.testing.ts'
import { killProcesses } from '../server-process.testing.ts'
import { endpointPath } from '../start.testing.ts'
import { makeDatabase } from '../storage/each-engine.testing.ts'
import { openStore, type Store } from '../storage/open.ts'
import { type NodeProcess, startNodes } from './node-processes.testing.ts'

/** How many changes are made, by as many clients as there are nodes, each of its own endpoints. */
const CHANGES = 500
const OWN = 6

/** How many endpoints all clients change. */
const SHARED = 4

/**
 * After so many changes one node is killed; after so many another one stops, for so long, ms: until
 * the others take it for dead. They forget it then, which takes minutes if nobody helps.
 */
const KILL_AFTER = 150
const STOP = { after: 300, ms: 13_000 }

/** How long they may take to agree, a dead one's ports included. */
const AGREED = { timeout: 45_000, interval: 250 }

/** Stands for an endpoint that is not there. */
const ABSENT = 'absent'

/** What an endpoint may be: one thing after an answer, several where there was none. */
type Known = Map<string, Set<string>>

let place: Awaited<ReturnType<typeof makeDatabase>>
let store: Store
let nodes: NodeProcess[]

beforeAll(async () => {
  place = await makeDatabase()
  nodes = await startNodes(place.databaseUrl, ['a', 'b', 'c'])
  store = await openStore({ databaseUrl: place.databaseUrl }, 'tool')
})
afterAll(async () => {
  await killProcesses()
  await store?.close()
  await place.remove()
})

test(`after ${CHANGES} changes from three nodes, one killed and one stopped on the way, all agree`, async () => {
  const [a, b, c] = nodes as [NodeProcess, NodeProcess, NodeProcess]
  const ports = await freePorts(nodes.length * OWN + SHARED)
  const addresses = ports.map((port) => `tcp://127.0.0.1:${port}`)
  const shared = addresses.slice(nodes.length * OWN)
  const known: Known = new Map(addresses.map((address) => [address, new Set([ABSENT])]))
  let made = 0
  let acknowledged = 0
  let ended = false
  let again = Promise.resolve()

  async function client(home: NodeProcess, at: number): Promise<void> {
    const random = randomNumbers(8529 + at)
    const own = addresses.slice(at * OWN, (at + 1) * OWN)
    while (made < CHANGES) {
      const number = ++made
      if (number === KILL_AFTER) {
        ended = true
        await c.end('SIGKILL')
      }
      if (number === STOP.after) {
        b.process.signal('SIGSTOP')
        again = pause(STOP.ms).then(async () => {
          await forget('b')
          b.process.signal('SIGCONT')
        })
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

  await again
  await expect.poll(() => difference([a, b]), AGREED).toBe('')
  const table = new Map(
    (await readEndpoints(store)).map((row) => [row.endpoint, JSON.stringify(row.databases)]),
  )
  const missing = addresses
    .filter((address) => !shared.includes(address))
    .filter((address) => !known.get(address)?.has(table.get(address) ?? ABSENT))
  expect(missing).toEqual([])
}, 180_000)

test('nodes that are started anew one after the other lose nothing, and agree again', async () => {
  await nodes[2]?.start()
  let restarting = true
  const stored: string[] = []
  const write = async () => {
    for (let n = 0; restarting; n++) {
      const id = `w${n}`
      // As a client behind a balancer does: at the next node until one has said yes.
      for (let at = n; ; at++) {
        const node = nodes[at % nodes.length]
        const answer = await node?.ask('POST', '/articles', { id }).catch(() => undefined)
        if (answer?.status === 201 || answer?.status === 409) break
        expect([undefined, 503]).toContain(answer?.status)
      }
      stored.push(id)
    }
  }
  const writing = write()
  for (const node of nodes) {
    await node.end('SIGTERM')
    await node.start()
    expect((await node.ask('GET', '/_api/health/ready')).status).toBe(200)
  }
  restarting = false
  await writing
  await expect.poll(() => difference(nodes), AGREED).toBe('')
  const rows = await store.db.selectFrom('documents').select('id').execute()
  expect(rows.map(({ id }) => id).sort()).toEqual(stored.sort())
}, 120_000)

/** What happens to a node that nobody has heard of for ten minutes. */
async function forget(name: string): Promise<void> {
  await store.db.deleteFrom('node_listeners').where('node', '=', name).execute()
  await store.db.deleteFrom('nodes').where('name', '=', name).execute()
}

/** Where nodes, the table and the sockets do not agree, as a sentence; nothing where they do. */
async function difference(nodes: readonly NodeProcess[]): Promise<string> {
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
