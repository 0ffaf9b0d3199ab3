import type { Transaction } from 'kysely'
import type { Address } from '../../../contract/endpoints/address.ts'
import type { Nodes } from '../../../nodes/nodes.ts'
import type { Tables } from '../../../storage/tables.ts'
import { readAddress } from '../../address.ts'
import { listenerStatus } from '../../listener-status.ts'
import type { Listener } from '../../listeners/listener.ts'
import { conflicts } from './bind-failure.ts'

/** The other nodes that share the store, as the endpoint registry sees them. */
export interface Peers extends Pick<Nodes, 'sendCommand'> {
  /** The name of this node. */
  readonly node: string
  /** Whether any other node is alive. */
  readonly any: boolean
  /** Whether a live node on this host listens on the port of the address. */
  listenOnThisHost(address: Address): boolean
  /** Reports the status of a listener of this node to the others, immediately or shortly after. */
  report(listener: Listener): void
  /** Reports to the others that a listener of this node has closed. */
  forget(listener: Listener): void
  /**
   * Checks that `_system` stays reachable without an endpoint. Runs in the transaction of the
   * change, under its lock, so concurrent removals on two nodes cannot remove the last one.
   *
   * @param client the address of the caller, which the other endpoint must admit; null for commands.
   * @param own the addresses through which this node currently serves `_system`.
   * @throws Failure `conflict` if the endpoint is the last one.
   */
  requireOtherAdminAccess(
    trx: Transaction<Tables>,
    address: string,
    client: string | null,
    own: readonly string[],
  ): Promise<void>
}

/** Returns the other nodes as {@link Peers}. */
export function createPeers(nodes: Nodes): Peers {
  let version = -1
  // Indexed by port, because it is read for each of thousands of endpoints after each update.
  let addresses = new Map<number | string, Address[]>()
  const portOf = (address: Address) => (address.scheme === 'unix' ? address.path : address.port)
  function readAddresses(): void {
    version = nodes.peers.version
    const listening = [...nodes.peers.listenersOnThisHost()]
      .filter(({ state }) => state === 'listening')
      .map(({ endpoint, bound }) => readAddress(bound ?? endpoint))
    addresses = Map.groupBy(listening, portOf)
  }
  return {
    node: nodes.name,
    get any() {
      return nodes.peers.any
    },
    listenOnThisHost(address) {
      if (version !== nodes.peers.version) readAddresses()
      return addresses.get(portOf(address))?.some((other) => conflicts(other, address)) ?? false
    },
    report: (listener) => nodes.report(listener.id, () => listenerStatus(listener, nodes.name)),
    forget: (listener) => nodes.forget(listener.id),
    sendCommand: nodes.sendCommand,
    requireOtherAdminAccess: nodes.requireOtherAdminAccess,
  }
}
