import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { EndpointRecord } from '../../contract/endpoints/endpoint.ts'
import type { ListenerStatus } from '../../contract/endpoints/listener.ts'
import { CASES } from '../../integration/endurance/settings.testing.ts'
import {
  endpointPath,
  sendRequest,
  startForTest,
  type TestNode,
  type TestResponse,
} from '../../test-support/start.testing.ts'
import { freePorts } from '../listeners/free-ports.testing.ts'
import { expectListening, listeningAddresses } from '../listeners/kernel-sockets.testing.ts'

// Random sequences of adding, remapping and removing endpoints on real sockets, compared with a
// model. After each step, the model, the list, the listeners and the kernel must agree.

/** An address that the sequences use. */
interface Slot {
  /** In canonical form. */
  readonly address: string
  /** Another spelling of the address. */
  readonly spelling: string
  /** How the kernel lists its socket. */
  readonly socket: string
  /** How a client connects to it. */
  readonly reach: { readonly port: number; readonly host?: string; readonly socketPath?: string }
}

interface Stored {
  readonly databases: readonly string[]
  readonly revision: number
}

/** The model: the stored endpoints by address. */
type Model = Map<string, Stored>

const DONE = { result: true, error: false, code: 200 }
const DATABASES = ['_system', 'ada', 'bob', 'never-made'] as const

const same = (a: readonly string[], b: readonly string[]) => a.join() === b.join()
const reaches = ({ databases }: Pick<Stored, 'databases'>, name: string) =>
  databases.length === 0 || databases.includes(name)

/** The state that the steps share: a node, the slots and the model. */
class World {
  readonly node: TestNode
  readonly slots: readonly Slot[]
  readonly model: Model = new Map()
  /** The listening sockets of this process that do not belong to the node. */
  readonly foreign: readonly string[]

  constructor(node: TestNode, slots: readonly Slot[], foreign: readonly string[]) {
    this.node = node
    this.slots = slots
    this.foreign = foreign
  }

  slot(at: number): Slot {
    return this.slots[at % this.slots.length] as Slot
  }

  /** Returns the slots that serve `_system`. */
  ways(): Slot[] {
    return this.slots.filter((slot) => {
      const stored = this.model.get(slot.address)
      return stored !== undefined && reaches(stored, '_system')
    })
  }

  isLastWay(slot: Slot): boolean {
    const ways = this.ways()
    return ways.length === 1 && ways[0] === slot
  }

  /** Whether another stored endpoint uses the same port, so that both cannot listen. */
  clashes(slot: Slot): boolean {
    const ipv4 = (each: Slot) => /^tcp:\/\/[0-9]/.test(each.socket)
    const host = (each: Slot) => each.socket.slice(0, each.socket.lastIndexOf(':'))
    return this.slots.some(
      (other) =>
        other !== slot &&
        this.model.has(other.address) &&
        ipv4(other) &&
        ipv4(slot) &&
        other.reach.port === slot.reach.port &&
        [other, slot].some((each) => host(each) === 'tcp://0.0.0.0' || host(other) === host(slot)),
    )
  }

  /** Sends a request through any endpoint that serves `_system`; there must always be one. */
  async admin(
    method: string,
    path: string,
    options: { body?: unknown; revision?: number | undefined } = {},
  ): Promise<TestResponse> {
    const ways = this.ways()
    const way = ways[this.#turn++ % ways.length]
    if (way === undefined) throw new Error('no endpoint of the model serves _system')
    const { port, ...reach } = way.reach
    const { revision } = options
    const headers: Record<string, string> = {
      Authorization: `Bearer ${this.node.token}`,
      ...(revision === undefined ? {} : { 'If-Match': `"${revision}"` }),
    }
    return sendRequest(port, method, `/_db/_system${path}`, {
      ...reach,
      headers,
      body: options.body,
    })
  }
  #turn = 0

  /** Compares the model with the list, the listeners and the kernel. */
  async check(): Promise<void> {
    const stored = [...this.model].sort(([a], [b]) => (a < b ? -1 : 1))
    const list = (await this.admin('GET', '/_api/endpoint')).json as EndpointRecord[]
    expect(list).toEqual(stored.map(([endpoint, { databases }]) => ({ endpoint, databases })))

    const all = (await this.admin('GET', '/_api/listener')).json as ListenerStatus[]
    const listeners = all.filter(({ state }) => state !== 'draining')
    expect(
      listeners.map(({ endpoint, state, error, revision }) => [endpoint, state, error, revision]),
    ).toEqual(stored.map(([address, { revision }]) => [address, 'listening', null, revision]))

    const sockets = this.slots
      .filter(({ address }) => this.model.has(address))
      .map(({ socket }) => socket)
    await expectListening(process.pid, [...this.foreign, ...sockets])
  }

  /**
   * Sends requests through one endpoint and checks that exactly its mapped databases are reachable.
   */
  async visit(slot: Slot): Promise<void> {
    const stored = this.model.get(slot.address)
    const { port, ...reach } = slot.reach
    if (stored === undefined) {
      // Another endpoint may answer: a wildcard address on the same port.
      if (this.clashes(slot)) return
      await expect(sendRequest(port, 'GET', '/', reach)).rejects.toThrow(/ECONNREFUSED|ENOENT/)
      return
    }
    for (const name of DATABASES) {
      const { status } = await sendRequest(port, 'GET', `/_db/${name}/_api/health`, reach)
      const exists = name !== 'never-made'
      expect([slot.address, name, status]).toEqual([
        slot.address,
        name,
        exists && reaches(stored, name) ? 200 : 404,
      ])
    }
  }

  /** Records the revision of a change, which must be higher than all before. */
  async noteChange(slot: Slot, databases: readonly string[]): Promise<void> {
    const highest = Math.max(this.#highest, ...this.model.values().map(({ revision }) => revision))
    this.model.set(slot.address, { databases, revision: highest + 1 })
    const all = (await this.admin('GET', '/_api/listener')).json as ListenerStatus[]
    const now = all.find(
      ({ endpoint, state }) => endpoint === slot.address && state === 'listening',
    )
    expect(now?.revision).toBeGreaterThan(highest)
    this.#highest = now?.revision ?? 0
    this.model.set(slot.address, { databases, revision: this.#highest })
  }
  #highest = 0
}

type Step = fc.AsyncCommand<Model, World>

/** The revision in the precondition of a change: none, the current one, or a stale one. */
type Precondition = 'none' | 'current' | 'passed'

/** Returns the revision for `If-Match` and whether the precondition holds. */
function precondition(how: Precondition, stored: Stored | undefined) {
  if (how === 'none') return { revision: undefined, holds: true }
  const revision = stored?.revision ?? 1
  return how === 'current'
    ? { revision, holds: stored !== undefined }
    : { revision: revision + 1_000, holds: false }
}

class Add implements Step {
  readonly at: number
  readonly databases: readonly string[]
  readonly spelled: boolean
  readonly how: Precondition

  constructor(at: number, databases: readonly string[], spelled: boolean, how: Precondition) {
    this.at = at
    this.databases = databases
    this.spelled = spelled
    this.how = how
  }

  check = () => true

  async run(_: Model, world: World): Promise<void> {
    const { databases, how } = this
    const slot = world.slot(this.at)
    const stored = world.model.get(slot.address)
    const { revision, holds } = precondition(how, stored)
    const { status, json } = await world.admin('POST', '/_api/endpoint', {
      body: { endpoint: this.spelled ? slot.spelling : slot.address, databases },
      revision,
    })
    const expected = (): object => {
      if (databases.some((name) => name.includes(' '))) return { code: 400, errorNum: 1229 }
      if (new Set(databases).size < databases.length) return { code: 400, errorNum: 10 }
      if (!holds) return { code: 412, errorNum: 412 }
      if (stored === undefined) return world.clashes(slot) ? { code: 409, errorNum: 1200 } : DONE
      const gives = world.isLastWay(slot) && !reaches({ databases }, '_system')
      return gives ? { code: 409, errorNum: 1200 } : DONE
    }
    expect(json).toMatchObject(expected())
    if (status === 200 && !(stored !== undefined && same(stored.databases, databases))) {
      await world.noteChange(slot, databases)
    }
    await world.check()
    await world.visit(slot)
  }

  toString = () => `add(${this.at}, [${this.databases}], ${this.spelled}, ${this.how})`
}

class Remove implements Step {
  readonly at: number
  readonly spelled: boolean
  readonly how: Precondition

  constructor(at: number, spelled: boolean, how: Precondition) {
    this.at = at
    this.spelled = spelled
    this.how = how
  }

  check = () => true

  async run(_: Model, world: World): Promise<void> {
    const slot = world.slot(this.at)
    const stored = world.model.get(slot.address)
    const { revision, holds } = precondition(this.how, stored)
    const { status, json } = await world.admin(
      'DELETE',
      endpointPath(this.spelled ? slot.spelling : slot.address),
      { revision },
    )
    const expected = (): object => {
      if (stored === undefined) {
        return { code: 404, errorNum: 1231, errorMessage: 'endpoint not found' }
      }
      if (!holds) return { code: 412, errorNum: 412 }
      return world.isLastWay(slot) ? { code: 409, errorNum: 1200 } : DONE
    }
    expect(json).toMatchObject(expected())
    if (status === 200) world.model.delete(slot.address)
    await world.check()
    await world.visit(slot)
  }

  toString = () => `remove(${this.at}, ${this.spelled}, ${this.how})`
}

/**
 * Adds or removes all slots that do not serve `_system` concurrently. The responses do not depend
 * on the order.
 */
class Flip implements Step {
  check = () => true

  async run(_: Model, world: World): Promise<void> {
    const ways = world.ways()
    const rest = world.slots.filter((slot) => !ways.includes(slot))
    const absent = rest.filter((slot) => !world.model.has(slot.address))
    const present = rest.filter((slot) => world.model.has(slot.address))
    // Add only one slot per port: the model cannot predict which one would win.
    const ports = new Set(ways.concat(present).map(({ reach }) => reach.port))
    const added = absent.filter(({ reach }) => {
      if (reach.port === 0) return true
      if (ports.has(reach.port)) return false
      ports.add(reach.port)
      return true
    })
    const latest = Math.max(0, ...[...world.model.values()].map(({ revision }) => revision))
    const responses = await Promise.all([
      ...added.map(({ address }) =>
        world.admin('POST', '/_api/endpoint', { body: { endpoint: address, databases: ['ada'] } }),
      ),
      ...present.map(({ address }) => world.admin('DELETE', endpointPath(address))),
    ])
    expect(responses.map(({ json }) => json)).toEqual(responses.map(() => DONE))
    for (const { address } of present) world.model.delete(address)
    const all = (await world.admin('GET', '/_api/listener')).json as ListenerStatus[]
    for (const { address } of added) {
      const now = all.find(({ endpoint, state }) => endpoint === address && state === 'listening')
      const revision = now?.revision ?? Number.NaN
      // Endpoints that are stored in one transaction have the same revision.
      expect(revision).toBeGreaterThan(latest)
      world.model.set(address, { databases: ['ada'], revision })
    }
    await world.check()
  }

  toString = () => 'flip()'
}

/** Returns the addresses of one run: names, families, schemes, and some that clash. */
function makeSlots(ports: readonly number[], folder: string): Slot[] {
  const tcp = (host: string, port: number, at = host, spelled = host): Slot => ({
    address: `tcp://${host}:${port}`,
    spelling: `TCP://${spelled}:${port}`,
    socket: `tcp://${at}:${port}`,
    reach: { port, host: at === '0.0.0.0' ? '127.0.0.1' : at.replace(/[[\]]/g, '') },
  })
  const unix = (name: string): Slot => ({
    address: `unix://${folder}/${name}`,
    spelling: `unix://${folder}//x/.././${name}`,
    socket: `unix://${folder}/${name}`,
    reach: { port: 0, socketPath: join(folder, name) },
  })
  const [a = 0, b = 0, c = 0] = ports
  return [
    tcp('127.0.0.1', a),
    tcp('127.0.0.2', a),
    tcp('0.0.0.0', a),
    tcp('127.0.0.1', b),
    tcp('localhost', b, '127.0.0.1', 'LocalHost'),
    tcp('[::1]', b, '[::1]', '[0:0:0:0:0:0:0:1]'),
    tcp('localhost', c, '127.0.0.1', 'LOCALHOST'),
    tcp('[::1]', c, '[::1]', '[0::0001]'),
    unix('a.sock'),
    unix('b.sock'),
  ]
}

const at = fc.nat({ max: 9 })
const databases = fc.oneof(
  { weight: 6, arbitrary: fc.subarray([...DATABASES]) },
  { weight: 3, arbitrary: fc.constant([]) },
  fc.constantFrom(['ada', 'ada'], ['no name'], ['bob', '_system']),
)
const how = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Precondition>('none') },
  fc.constantFrom<Precondition>('current', 'passed'),
)
const steps = fc.commands(
  [
    fc
      .tuple(at, databases, fc.boolean(), how)
      .map(([slot, names, spelled, match]) => new Add(slot, names, spelled, match)),
    fc
      .tuple(at, databases, fc.boolean(), how)
      .map(([slot, names, spelled, match]) => new Add(slot, names, spelled, match)),
    fc.tuple(at, fc.boolean(), how).map((parts) => new Remove(...parts)),
    fc.constant(new Flip()),
  ],
  { size: '+1', maxCommands: 36 },
)

test(
  'any sequence of adds, remaps and removes leaves list, listeners and sockets consistent',
  async () => {
    const ports = await freePorts(3)
    const foreign = await listeningAddresses(process.pid)
    let made = 0
    await fc.assert(
      fc.asyncProperty(steps, async (sequence) => {
        const folder = mkdtempSync(join(tmpdir(), 'gatehouse-model-'))
        const slots = makeSlots(ports, folder)
        const first = slots[0] as Slot
        const node = await startForTest({ endpoints: [first.address] })
        try {
          for (const name of ['ada', 'bob']) await node.request('POST', '/_api/database', { name })
          const world = new World(node, slots, foreign)
          await world.noteChange(first, [])
          await world.check()
          await fc.asyncModelRun(() => ({ model: world.model, real: world }), sequence)
          made += [...sequence].length
        } finally {
          await node.stop()
          rmSync(folder, { recursive: true, force: true })
        }
        // None of its sockets is left.
        await expectListening(process.pid, foreign)
      }),
      { numRuns: 10 * CASES },
    )
    // Each sequence has up to 36 steps, at random.
    expect(made).toBeGreaterThan(20 * CASES)
  },
  300_000 * CASES,
)
