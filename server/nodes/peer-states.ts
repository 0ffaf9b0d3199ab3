import type { ListenerStatus } from '../contract/endpoints/listener.ts'
import type { NodeStatus } from '../contract/node.ts'
import { DEAD_AFTER, type Identity, type NodeRepository, type OtherNode } from './repository.ts'

/** The other nodes and their listeners, as last read from the store. */
export interface PeerStates {
  /** Whether any other node is alive. */
  readonly any: boolean
  /** Increases whenever other nodes or their listeners have changed. */
  readonly version: number
  /** Returns the status of the other nodes. Dead nodes are included for ten minutes. */
  nodes(): readonly NodeStatus[]
  /**
   * Returns the last reported listeners of the other nodes. Those of dead nodes have `silentSince`.
   */
  listeners(): ListenerStatus[]
  /** Yields the listeners of live nodes on the host of this node. */
  listenersOnThisHost(): Iterable<ListenerStatus>
  /** Reads the changes since the last read. If that fails, this state stays the same. */
  read(): Promise<void>
}

export interface PeerStatesDeps {
  readonly repository: Pick<NodeRepository, 'others' | 'listenersOf'>
  readonly self: Identity
  /** Called for each endpoint whose listeners on other nodes have changed. */
  readonly onListenersChanged: (endpoint: string) => void
  /** Called after other nodes have joined, left or changed their listeners. */
  readonly onPeersChanged: () => void
}

/** A node and its listeners by id. */
interface Peer {
  readonly node: OtherNode
  readonly listeners: ReadonlyMap<number, ListenerStatus>
  /** When the node was last seen, by `performance.now()`. */
  readonly seenAt: number
}

/** Creates {@link PeerStates} without nodes. */
export function createPeerStates(deps: PeerStatesDeps): PeerStates {
  const { repository, self } = deps
  let alive = new Map<string, Peer>()
  // Dead nodes are only listed; no decision depends on them.
  let dead = new Map<string, Peer>()
  let nodes: readonly NodeStatus[] = []
  let version = 0

  /** Returns a node with its current listeners. Adds the endpoints of changed ones to `changed`. */
  async function readPeer(
    before: Peer | undefined,
    node: OtherNode,
    changed: Set<string>,
  ): Promise<Peer> {
    if (before?.node.run !== node.run || before.node.report > node.report) {
      return readAll(node, changed)
    }
    const seenAt = performance.now() - node.silence
    if (before.node.report === node.report) return { ...before, node, seenAt }
    // A copy: the next read must find the same changes if this one fails.
    const listeners = new Map(before.listeners)
    for (const { id, status } of await repository.listenersOf(node.name, before.node.report)) {
      const previous = listeners.get(id)
      if (previous?.state !== status.state || previous.revision !== status.revision) {
        changed.add(status.endpoint)
      }
      listeners.set(id, status)
    }
    if (listeners.size === node.listeners) return { node, listeners, seenAt }
    // Deleted listeners leave no row, so read all of them again.
    for (const { endpoint } of listeners.values()) changed.add(endpoint)
    return readAll(node, changed)
  }

  async function readAll(node: OtherNode, changed: Set<string>): Promise<Peer> {
    const rows = await repository.listenersOf(node.name, -1)
    for (const { status } of rows) changed.add(status.endpoint)
    const listeners = new Map(rows.map(({ id, status }) => [id, status]))
    return { node, listeners, seenAt: performance.now() - node.silence }
  }

  return {
    get any() {
      return alive.size > 0
    },
    get version() {
      return version
    },
    nodes: () => nodes,
    listeners: () => [...alive.values(), ...dead.values()].flatMap((peer) => [...reported(peer)]),
    *listenersOnThisHost() {
      for (const { node, listeners } of alive.values()) {
        if (node.hostId === self.hostId) yield* listeners.values()
      }
    },
    async read() {
      const rows = await repository.others(self.name)
      const nextAlive = new Map<string, Peer>()
      const nextDead = new Map<string, Peer>()
      const changed = new Set<string>()
      for (const node of rows) {
        const [before, next] = node.silence < DEAD_AFTER ? [alive, nextAlive] : [dead, nextDead]
        next.set(node.name, await readPeer(before.get(node.name), node, changed))
      }
      for (const { endpoint } of [
        ...removedListeners(alive, nextAlive),
        ...removedListeners(dead, nextDead),
      ]) {
        changed.add(endpoint)
      }
      const isOtherSet =
        alive.size !== nextAlive.size || nextAlive.keys().some((name) => !alive.has(name))
      nodes = rows.map(toStatus)
      alive = nextAlive
      dead = nextDead
      if (isOtherSet || changed.size > 0) {
        version++
        deps.onPeersChanged()
      }
      for (const endpoint of changed) deps.onListenersChanged(endpoint)
    },
  }
}

/** Yields the listeners of a node; of a dead node without those that were draining. */
function* reported({ listeners, seenAt }: Peer): Generator<ListenerStatus> {
  const silence = performance.now() - seenAt
  if (silence < DEAD_AFTER) return yield* listeners.values()
  const silentSince = timeBefore(silence)
  for (const status of listeners.values()) {
    if (status.state !== 'draining') yield { ...status, silentSince }
  }
}

/** Yields the listeners of the nodes that are missing in the next state. */
function* removedListeners(
  before: Map<string, Peer>,
  next: Map<string, Peer>,
): Generator<ListenerStatus> {
  for (const [name, { listeners }] of before) if (!next.has(name)) yield* listeners.values()
}

const toStatus = ({ name, silence }: OtherNode): NodeStatus => ({
  name,
  own: false,
  state: silence < DEAD_AFTER ? 'alive' : 'silent',
  seen: timeBefore(silence),
})

/** Returns the time that was `silence` ms ago. */
const timeBefore = (silence: number) => new Date(Date.now() - silence).toISOString()
