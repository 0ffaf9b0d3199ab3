import { Failure } from '../../failure.ts'
import type { PeerCommand } from '../../nodes/repository.ts'
import { canonicalAddress } from '../address.ts'
import { notFound } from './endpoint-changes.ts'
import type { ListenerSet } from './listener-set.ts'
import type { Peers } from './placement/peers.ts'
import type { Reconciler } from './reconciler/reconciler.ts'

/** Commands to the listeners of an address, on all nodes. */
export interface ListenerCommands {
  /**
   * Retries a failed listener immediately, on all nodes where it has failed. No effect on a
   * listener that is open.
   *
   * @throws Failure `endpoint-not-found`; `conflict` if it is `elsewhere`; the error if it fails
   * again on this node; `unavailable`.
   */
  retry(address: string): Promise<void>
  /**
   * Closes the remaining connections of a draining listener, on all nodes.
   *
   * @throws Failure `endpoint-not-found` if none is draining; `unavailable`.
   */
  closeDraining(address: string): Promise<void>
  /** Executes a command from another node on a listener. No effect if the listener is closed. */
  handlePeerCommand(id: number, command: PeerCommand): void
}

/** Creates {@link ListenerCommands}. */
export function createListenerCommands(
  listeners: ListenerSet,
  retry: Reconciler['retry'],
  peers: Peers | undefined,
): ListenerCommands {
  return {
    async retry(text) {
      const address = canonicalAddress(text)
      if (address === undefined) throw notFound()
      const listener = listeners.get(address)
      if (listener === undefined) throw notFound()
      const isElsewhere = listener.state === 'elsewhere'
      let others = 0
      try {
        // Retry before the other nodes are notified: one on this host could take the port.
        // An automatic retry may be in progress; wait for it. It may already have opened the
        // listener.
        if (!isElsewhere) await retry(listener)
      } finally {
        others = (await peers?.sendCommand(address, 'retry')) ?? 0
      }
      if (isElsewhere && others === 0) {
        throw new Failure(
          'conflict',
          `${listener.name} has not failed; it belongs to another node.`,
        )
      }
    },
    async closeDraining(text) {
      const address = canonicalAddress(text)
      if (address === undefined) throw notFound()
      const found = [...listeners.draining()].filter(({ name }) => name === address)
      const others = (await peers?.sendCommand(address, 'close')) ?? 0
      if (found.length + others === 0) throw notFound()
      for (const listener of found) listener.close()
    },
    handlePeerCommand(id, command) {
      const all = [...listeners.listed(), ...listeners.draining()]
      const listener = all.find((each) => each.id === id)
      if (command === 'close' && listener?.state === 'draining') listener.close()
      if (command === 'retry' && listener?.state === 'failed') void retry(listener).catch(() => {})
    },
  }
}
