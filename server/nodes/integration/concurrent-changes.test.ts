import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { EndpointRecord } from '../../contract/endpoints/endpoint.ts'
import { freePorts } from '../../endpoints/listeners/free-ports.testing.ts'
import { listeningAddresses } from '../../endpoints/listeners/kernel-sockets.testing.ts'
import { readEndpoints } from '../../endpoints/registry/repository.ts'
import { randomNumbers } from '../../integration/endurance/settings.testing.ts'
import { openStore } from '../../storage/open.ts'
import type { Store } from '../../storage/store.ts'
import { makeDatabase } from '../../storage/test-support/each-engine.testing.ts'
import { killProcesses } from '../../test-support/server-process.testing.ts'
import { endpointPath } from '../../test-support/start.testing.ts'
import { type NodeProcess, startNodes } from './node-processes.testing.ts'

/** Number of changes, made by one client per node, each with endpoints of its own. */
const CHANGES = 200
const OWN = 6

/** Number of endpoints that all clients change. */
const SHARED = 4

/**
 * One node is killed after `KILL_AFTER` changes. Another is suspended after `STOP.after` changes
 * for `STOP.ms`, until the others consider it dead. The test then deletes its rows, which takes ten
 * minutes otherwise.
 */
const KILL_AFTER = 60
const STOP = { after: 120, ms: 13_000 }

/** How long the nodes may take to agree, including the ports of a dead one. */
const AGREED = { timeout: 120_000, interval: 250 }

/** The value of an endpoint that does not exist. */
const ABSENT = 'absent'

/** The possible values per endpoint: one after a response, several if there was none. */
type PossibleStates = Map<string, Set<string>>

let testDatabase: Awaited<ReturnType<typeof makeDatabase>>
let store: Store
let nodes: NodeProcess[]

beforeAll(async () => {
  testDatabase = await makeDatabase()
  nodes = await startNodes(testDatabase.databaseUrl, ['a', 'b', 'c'])
  store = await openStore({ databaseUrl: testDatabase.databaseUrl }, 'tool')
})
afterAll(async () => {
  await killProcesses()
  await store?.close()
  await testDatabase.remove()
})

test(`three nodes agree after ${CHANGES} changes, one kill and one stop`, async () => {
  const [a, b, c] = nodes as [NodeProcess, NodeProcess, NodeProcess]
  const ports = await freePorts(nodes.length * OWN + SHARED)
  const addresses = ports.map((port) => `tcp://127.0.0.1:${port}`)
  const shared = addresses.slice(nodes.length * OWN)
  const known: PossibleStates = new Map(addresses.map((address) => [address, new Set([ABSENT])]))
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
      // A client that has lost its node continues at another one.
      const node = ended && home === c ? a : home
      const before = known.get(address) ?? new Set()
      const after = removes ? ABSENT : JSON.stringify(databases)
      const response = await (removes
        ? node.request('DELETE', endpointPath(address), undefined, { once: true })
        : node.request('POST', '/_api/endpoint', { endpoint: address, databases }, { once: true })
      ).catch(() => undefined)
      if (response?.status === 200) {
        acknowledged++
        known.set(address, new Set([after]))
      } else if (response === undefined || response.status === 503) {
        known.set(address, new Set([...before, after]))
      } else if (response.status === 404 && removes) {
        known.set(address, new Set([ABSENT]))
      } else {
        // 408: the node was suspended before it had read the whole request.
        expect([408, 409], response.text).toContain(response.status)
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
})

test('nodes that restart one after the other lose nothing and agree', async () => {
  await nodes[2]?.start()
  let restarting = true
  const stored: string[] = []
  const write = async () => {
    for (let n = 0; restarting; n++) {
      const id = `w${n}`
      // Like a client behind a load balancer: retry at the next node until one succeeds.
      for (let at = n; ; at++) {
        const node = nodes[at % nodes.length]
        const response = await node
          ?.request('POST', '/articles', { id }, { once: true })
          .catch(() => undefined)
        if (response?.status === 201 || response?.status === 409) break
        expect([undefined, 503]).toContain(response?.status)
      }
      stored.push(id)
    }
  }
  const writing = write()
  for (const node of nodes) {
    await node.end('SIGTERM')
    await node.start()
    // A load balancer waits too: a busy machine may delay the confirmation of the node's state.
    await expect
      .poll(async () => (await node.request('GET', '/_api/health/ready')).status)
      .toBe(200)
  }
  restarting = false
  await writing
  await expect.poll(() => difference(nodes), AGREED).toBe('')
  const rows = await store.db.selectFrom('documents').select('id').execute()
  expect(rows.map(({ id }) => id).sort()).toEqual(stored.sort())
})

/** Deletes a node, as happens ten minutes after its last heartbeat. */
async function forget(name: string): Promise<void> {
  await store.db.deleteFrom('node_listeners').where('node', '=', name).execute()
  await store.db.deleteFrom('nodes').where('name', '=', name).execute()
}

/** Describes where the nodes, the database and the sockets disagree; empty if they agree. */
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
    const { text } = await node.request('GET', '/_api/endpoint')
    if (text !== JSON.stringify(table)) return `${node.name}: ${text}\n${JSON.stringify(table)}`
  }
  const sockets = await Promise.all(nodes.map(({ process }) => listeningAddresses(process.pid)))
  const open = sockets.flat().sort()
  const wanted = table.map(({ endpoint }) => endpoint)
  if (open.join() !== wanted.join()) return `sockets: ${open}\n${wanted}`
  for (const node of nodes) {
    const { json } = await node.request('GET', '/_api/listener')
    for (const [at, { name }] of nodes.entries()) {
      for (const endpoint of wanted) {
        const states = (json as { endpoint: string; node: string; state: string }[])
          .filter((each) => each.endpoint === endpoint && each.node === name)
          .map(({ state }) => state)
        const due = sockets[at]?.includes(endpoint) ? 'listening' : 'elsewhere'
        if (states[0] !== due)
          return `${node.name} reports ${endpoint} on ${name} as ${states}, not ${due}`
      }
    }
  }
  return ''
}
