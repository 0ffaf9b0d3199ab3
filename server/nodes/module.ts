import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import type { EventHub } from '../events/hub.ts'
import type { RequireRole } from '../http/guards/require-role.ts'
import type { Store } from '../storage/store.ts'
import { createNodes, type NodesDeps } from './nodes.ts'
import { nodeRoutes } from './routes.ts'

export interface NodesModuleDeps {
  readonly store: Store
  /** The name of this node. */
  readonly name: string
  readonly events: Pick<EventHub, 'publish'>
  readonly requireRole: RequireRole
  readonly onError: (error: unknown) => void
}

interface PeerHandlers extends Pick<NodesDeps, 'onPeersChanged' | 'handlePeerCommand'> {
  /** Returns the databases of an endpoint. */
  mappingOf(address: string): { readonly names: readonly string[] } | undefined
}

/**
 * Creates the nodes that share the store, and their routes. With SQLite there are no others. Register
 * all handlers before `start`.
 */
export function createNodesModule({ store, name, events, requireRole, onError }: NodesModuleDeps) {
  let handlers: PeerHandlers = {
    onPeersChanged() {},
    handlePeerCommand() {},
    mappingOf: () => undefined,
  }
  const heartbeatTasks: (() => Promise<void>)[] = []
  // A SQLite store is used by one node only.
  const nodes =
    store.engine === 'postgres'
      ? createNodes({
          store,
          name,
          hostId: hostId(),
          onListenersChanged: (endpoint) =>
            events.publish({ type: 'listener', endpoint }, handlers.mappingOf(endpoint)?.names),
          onPeersChanged: () => handlers.onPeersChanged(),
          handlePeerCommand: (id, command) => handlers.handlePeerCommand(id, command),
          async onHeartbeat() {
            for (const task of heartbeatTasks) await task()
          },
          onError,
        })
      : undefined
  return {
    name,
    nodes,
    routes: nodeRoutes({
      node: name,
      store: store.engine,
      others: () => nodes?.peers.nodes() ?? [],
      requireRole,
    }),
    /** Returns the listeners of the other nodes. */
    listeners: () => nodes?.peers.listeners() ?? [],
    /** Returns the current time of the database clock, ms since 1970; the same on all nodes. */
    now: () => nodes?.now() ?? Date.now(),
    /**
     * Returns the current time like `now`, but changes of this machine's clock do not affect it. On
     * SQLite, it is then off until the next start.
     */
    steadyNow: () => nodes?.now() ?? Math.floor(performance.timeOrigin + performance.now()),
    /** Sets the handlers for reports and commands of other nodes. */
    handlePeers(given: PeerHandlers): void {
      handlers = given
    },
    /** Adds a task that runs at each heartbeat, in the order of the calls. */
    onHeartbeat(task: () => Promise<void>): void {
      heartbeatTasks.push(task)
    },
    /** Registers this node. @throws Failure `conflict` if another live node has the name. */
    start: async () => nodes?.start(),
    async [Symbol.asyncDispose]() {
      await nodes?.stop()
    },
  }
}

export type NodesModule = ReturnType<typeof createNodesModule>

/**
 * Returns an identifier of the machine and network of this process. Two processes with the same
 * identifier cannot both bind a port. On Linux it is the boot id and the network namespace, which
 * differs between containers; elsewhere, the host name.
 */
function hostId(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    return `${boot} ${readlinkSync('/proc/self/ns/net')}`
  } catch {
    return hostname()
  }
}
