import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { sql, type Transaction } from 'kysely'
import { onlyAdminEndpoint } from '../contract/endpoints/endpoint.ts'
import type { ListenerStatus } from '../contract/endpoints/listener.ts'
import { Failure } from '../failure.ts'
import { offersAdministration, parseStoredPolicy } from '../policy/stored-policies.ts'
import type { Store } from '../storage/store.ts'
import type { Tables } from '../storage/tables.ts'
import { createCoalescedSync } from './change-sync.ts'
import { createListenerReports } from './listener-reports.ts'
import { createPeerStates, type PeerStates, type PeerStatesDeps } from './peer-states.ts'
import {
  aliveSince,
  createNodeRepository,
  DEAD_AFTER,
  type Identity,
  type PeerCommand,
} from './repository.ts'

/** Heartbeat interval, ms. A heartbeat also reports the traffic of the listeners. */
const HEARTBEAT = 3_000

/** Listener changes within this time are reported together, ms. */
const REPORT_DELAY = 5

/**
 * How long startup waits for the node name, ms. PostgreSQL keeps the lock of a killed predecessor
 * while its connection seems open, so startup waits until the predecessor counts as dead.
 */
const NAME_TIMEOUT = DEAD_AFTER + 1_000

/** This node among the nodes that share the store. */
export interface Nodes {
  /** The name of this node. */
  readonly name: string
  /** The other nodes. */
  readonly peers: Omit<PeerStates, 'read'>
  /** Returns the current time of the database clock, ms since 1970; the same on all nodes. */
  now(): number
  /** Reports a listener shortly after the call. `status` is called then and at later heartbeats. */
  report(id: number, status: () => ListenerStatus): void
  /** Reports that a listener has closed. */
  forget(id: number): void
  /** Sends a command to all nodes with a listener of this address. Returns their number. */
  sendCommand(address: string, command: PeerCommand): Promise<number>
  /** See {@link requireOtherAdminAccess}. */
  requireOtherAdminAccess(
    trx: Transaction<Tables>,
    address: string,
    client: string | null,
    own: readonly string[],
  ): Promise<void>
  /**
   * Registers this node and starts its heartbeats.
   *
   * @throws Failure `conflict` if another live node has the name.
   */
  start(): Promise<void>
  /** Deregisters this node, so that the others need not wait until it counts as dead. */
  stop(): Promise<void>
}

export interface NodesDeps extends Pick<PeerStatesDeps, 'onListenersChanged' | 'onPeersChanged'> {
  readonly store: Store
  readonly name: string
  /** See {@link Identity}. */
  readonly hostId: string
  /** Called for each command from another node. */
  readonly handlePeerCommand: (id: number, command: PeerCommand) => void
  /** Called at each heartbeat, for tasks that only one of the nodes performs. */
  readonly onHeartbeat: () => Promise<void>
  readonly onError: (error: unknown) => void
}

/**
 * Creates {@link Nodes}. Nodes communicate through two tables
 * (docs/decisions/0012-node-coordination-through-postgresql.md). Each node writes a heartbeat row,
 * and a row per listener when that changes; the others read the rows that are newer than their
 * state. Idle listeners are not rewritten.
 */
export function createNodes(deps: NodesDeps): Nodes {
  const { store } = deps
  const repository = createNodeRepository(store)
  const self: Identity = { name: deps.name, run: randomUUID(), hostId: deps.hostId }
  const clock = createDatabaseClock()
  const reports = createListenerReports()
  const peers = createPeerStates({
    repository,
    self,
    onListenersChanged: deps.onListenersChanged,
    onPeersChanged: deps.onPeersChanged,
  })
  const pending = new Set<Promise<void>>()
  let started = false
  let heartbeat: NodeJS.Timeout | undefined
  let reportTimer: NodeJS.Timeout | undefined
  let unsubscribe = () => {}
  // Whether the next report is a heartbeat, which includes the traffic of all listeners.
  let isHeartbeat = false

  const reporter = createCoalescedSync(sendReport)
  const reader = createCoalescedSync(read)

  async function register(): Promise<void> {
    const until = performance.now() + NAME_TIMEOUT
    for (;;) {
      const ownsName = await store.acquireLock(`node ${self.name}`)
      if (await clock.set(repository.register(self, ownsName))) return
      if (started || performance.now() > until) break
      await pause(100)
    }
    throw new Failure(
      'conflict',
      `Another node with the name ${self.name} uses this database. Give each node a unique name with --node.`,
    )
  }

  async function sendReport(): Promise<void> {
    const report = reports.take(isHeartbeat)
    isHeartbeat = false
    let isDeleted = false
    try {
      if (await clock.set(repository.report(self, report))) return
      // `register` deletes all listener rows, so all are reported again, even if a step fails.
      isDeleted = true
      await register()
      await repository.report(self, reports.all())
    } catch (error) {
      // The next report retries everything.
      reports.requeue(isDeleted ? { ...reports.all(), closed: report.closed } : report)
      throw error
    }
  }

  async function read(): Promise<void> {
    await peers.read()
    for (const { id, command } of await repository.takeCommands(self.name)) {
      deps.handlePeerCommand(id, command)
    }
  }

  /** Reports the error of a task, and lets {@link Nodes.stop} wait for it. */
  function inBackground(task: Promise<void>): Promise<void> {
    const done = task.catch(deps.onError).finally(() => pending.delete(done))
    pending.add(done)
    return done
  }

  function reportSoon(): void {
    if (!started) return
    reportTimer ??= setTimeout(() => {
      reportTimer = undefined
      void inBackground(reporter.sync())
    }, REPORT_DELAY)
  }

  /**
   * Runs one heartbeat. If one step fails, such as a write to a read-only database, the next still
   * runs.
   */
  async function sendHeartbeat(): Promise<void> {
    isHeartbeat = true
    await inBackground(reporter.sync())
    await inBackground(reader.sync())
    await inBackground(repository.deleteDead())
    await deps.onHeartbeat()
  }

  return {
    name: self.name,
    peers,
    now: clock.now,
    report(id, status) {
      reports.set(id, status)
      reportSoon()
    },
    forget(id) {
      if (reports.delete(id)) reportSoon()
    },
    sendCommand: (address, command) => repository.sendCommand(self.name, address, command),
    requireOtherAdminAccess: (trx, address, client, own) =>
      requireOtherAdminAccess(trx, address, client, self.name, own),
    async start() {
      await register()
      await reader.sync()
      started = true
      unsubscribe = store.onNotification((topic) => {
        if (topic === 'nodes' || topic === 'all') void inBackground(reader.sync())
        // The advisory lock on the name was lost with the connection.
        if (topic === 'all')
          void inBackground(store.acquireLock(`node ${self.name}`).then(() => {}))
      })
      reportSoon()
      let beating = false
      heartbeat = setInterval(() => {
        if (beating) return
        beating = true
        void inBackground(sendHeartbeat()).finally(() => {
          beating = false
        })
      }, HEARTBEAT)
    },
    async stop() {
      unsubscribe()
      started = false
      clearInterval(heartbeat)
      clearTimeout(reportTimer)
      // The caller closes the store next; wait for the work that uses it.
      await Promise.allSettled(pending)
      await inBackground(repository.leave(self))
    },
  }
}

/** Maximum number of endpoints in which a change looks for another way to the administration. */
const OTHER_ENDPOINTS = 1_000

/**
 * Checks that an endpoint other than this one offers the administration on a live node. Called in
 * the transaction of the change, under the lock of the revision, so concurrent changes cannot
 * remove the last one.
 *
 * @param client an address that the other endpoint must admit; null for any.
 * @param node the name of this node; `own` replaces what it has reported.
 * @param own the addresses through which this node currently serves `_system`.
 * @throws Failure `conflict` if there is no other.
 */
async function requireOtherAdminAccess(
  trx: Transaction<Tables>,
  address: string,
  client: string | null,
  node: string,
  own: readonly string[],
): Promise<void> {
  const findServing = (limit: number) =>
    sql<{ address: string } & Parameters<typeof parseStoredPolicy>[0]>`
    select endpoints.address, policy, policy_revision, trial
    from endpoints left join policies on policies.address = endpoints.address
    where proposal is null
    and (databases = '[]' or position('"_system"' in databases) > 0)
    and (
      endpoints.address = any(${[...own]}::text[])
      or exists (
        select 1 from node_listeners join nodes on nodes.name = node_listeners.node
        where node_listeners.address = endpoints.address
        and node_listeners.state = 'listening'
        and nodes.name <> ${node} and nodes.seen_at > ${aliveSince}
      )
    )
    order by policy is null desc
    limit ${limit}`.execute(trx)
  // Usually one of the first two is another endpoint without a policy.
  for (const limit of [2, OTHER_ENDPOINTS]) {
    const { rows } = await findServing(limit)
    const isOther = (row: (typeof rows)[number]) =>
      row.address !== address && offersAdministration(parseStoredPolicy(row), client)
    if (rows.some(isOther)) return
    if (rows.length === limit && limit < OTHER_ENDPOINTS) continue
    const own = rows.find((row) => row.address === address)
    if (own !== undefined && offersAdministration(parseStoredPolicy(own))) throw onlyAdminEndpoint()
    return
  }
}

/** Maximum round trip after which a reply sets the clock, ms. */
const ROUND_TRIP = 1_500

/** The clock of PostgreSQL, which is the same for all nodes. */
interface DatabaseClock {
  /** Returns the time, ms since 1970. */
  now(): number
  /** Sets the clock from a reply with the time. Returns whether the reply has one. */
  set(reply: Promise<number | undefined>): Promise<boolean>
}

/**
 * Creates a {@link DatabaseClock} that shows the time of this machine until it is set. It runs by the
 * monotonic clock, which changes of the system's time do not affect.
 */
function createDatabaseClock(): DatabaseClock {
  let offset = performance.timeOrigin
  return {
    now: () => Math.floor(performance.now() + offset),
    async set(reply) {
      const sent = performance.now()
      const time = await reply
      // A slow reply says little about the current time.
      const received = performance.now()
      if (time !== undefined && received - sent < ROUND_TRIP) offset = time - received
      return time !== undefined
    },
  }
}
